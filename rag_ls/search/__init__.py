"""Searches the index: turns a query into hits."""
