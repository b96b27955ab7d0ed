"""One module for each feature of the editor protocol."""
