"""Makes an embedding model of our own for code: pairs from public repositories, then contrastive training.

README.md here has the commands, one for each step.
"""
