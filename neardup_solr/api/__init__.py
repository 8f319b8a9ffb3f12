"""The public functions: their signatures and what they do, in one place.

Each takes its arguments, which are compared with their types, and calls the work: nothing of it is
loaded before. What an argument means stands in the table of options, which `help` shows.
"""
