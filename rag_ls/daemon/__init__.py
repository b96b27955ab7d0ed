"""The engine that all surfaces of a user share: its socket, its lifetime, and the relays that connect to it."""
