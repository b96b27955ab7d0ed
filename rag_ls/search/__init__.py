"""Searches the index: turns a query into hits."""

from rag_ls.search.by_file import group_by_file
from rag_ls.search.cache import CACHED_ANSWERS, MADE_ANSWERS
from rag_ls.search.document_order import OrderedDocument
from rag_ls.search.exact import (
    MAX_OCCURRENCES,
    DocumentPlaces,
    Occurrences,
    PlaceInDocument,
    choose_first,
    find_occurrences,
    show_places,
)
from rag_ls.search.query import MAX_QUERY_CHARACTERS, analyse, has_word
from rag_ls.search.roles import BY_PATH, Roles, is_data, is_docs, is_inline_test
from rag_ls.search.searcher import Found, Searcher
from rag_ls.search.text_patterns import UNCOUNTED_LINES, TextPattern, TextQuery
from rag_ls.search.view import DOCUMENT_KINDS, NO_FILTERS, Filters, View, accepts, explain_filters

__all__ = [
    "BY_PATH",
    "CACHED_ANSWERS",
    "DOCUMENT_KINDS",
    "MADE_ANSWERS",
    "MAX_OCCURRENCES",
    "MAX_QUERY_CHARACTERS",
    "NO_FILTERS",
    "UNCOUNTED_LINES",
    "DocumentPlaces",
    "Filters",
    "Found",
    "Occurrences",
    "OrderedDocument",
    "PlaceInDocument",
    "Roles",
    "Searcher",
    "TextPattern",
    "TextQuery",
    "View",
    "accepts",
    "analyse",
    "choose_first",
    "explain_filters",
    "find_occurrences",
    "group_by_file",
    "has_word",
    "is_data",
    "is_docs",
    "is_inline_test",
    "show_places",
]
