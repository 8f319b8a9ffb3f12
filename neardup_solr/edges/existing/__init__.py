"""What a collection of somebody else's has, and updates that lose nothing of it."""
