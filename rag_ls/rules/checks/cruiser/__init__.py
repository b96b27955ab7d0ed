"""The rules of dependency-cruiser that a project has already, with their meaning there.

Source: dependency-cruiser 16, "rules reference", and its `src/validate`.
"""
