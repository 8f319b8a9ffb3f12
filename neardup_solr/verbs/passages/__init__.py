"""passages: what documents share, word by word, and which of them is a part of the other."""
