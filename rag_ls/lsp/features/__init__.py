"""One module for each thing the editor can ask or say."""
