"""Reads git's history: commits as hits, and the commits that changed one declaration."""
