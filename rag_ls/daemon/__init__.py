"""One engine for every surface of a user: its socket, its life, and the relays that reach it."""
