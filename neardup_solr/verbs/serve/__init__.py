"""serve: the gate, the search and the fields of a text over HTTP, for programs in any language."""
