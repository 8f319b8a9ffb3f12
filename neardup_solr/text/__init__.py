"""A text: its normal form, its words, the pieces that are compared."""
