"""One engine on real repositories: memory, handles and threads after indexing, questions, typing, and an hour of everything."""
