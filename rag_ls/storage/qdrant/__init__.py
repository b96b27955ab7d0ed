"""Vectors on a Qdrant server."""
