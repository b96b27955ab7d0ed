"""How well the right rule is found for a planned change: three projects' rules and 150 changes, labelled by hand."""
