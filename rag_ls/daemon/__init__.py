"""The engine that all surfaces of a user share: its socket, its lifetime, and the relays that connect to it."""

from rag_ls.util.doors import Door

__getattr__ = Door(__name__)
