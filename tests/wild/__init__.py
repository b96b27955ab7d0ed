"""Situations from other people's projects, each a small input with the right outcome; docs/robustness.md lists them."""
