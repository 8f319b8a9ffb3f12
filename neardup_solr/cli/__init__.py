"""The command `neardup`."""
