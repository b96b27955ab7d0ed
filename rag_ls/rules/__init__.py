"""The rules of a team: what they say, what they concern, and what the code shows of them."""

from rag_ls.util.doors import Door

__getattr__ = Door(__name__)
