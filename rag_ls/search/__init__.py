"""Query to hits."""

from rag_ls.search.searcher import Found, Searcher
from rag_ls.search.view import NO_FILTERS, Filters

__all__ = ["NO_FILTERS", "Filters", "Found", "Searcher"]
