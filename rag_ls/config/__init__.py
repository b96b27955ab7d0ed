"""The settings, and how they are read from files, environment and editor."""
