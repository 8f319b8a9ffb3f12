"""How similar two texts are, by each of the measures."""
