"""The projects that can be named: those of the user's settings, and those that were opened before."""
