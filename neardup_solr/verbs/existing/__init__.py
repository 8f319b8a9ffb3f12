"""Collections that were there before: linted, prepared, annotated, checked, stripped."""
