"""Searches the index: turns a query into hits."""

# A package offers what it imports here.
# mypy: implicit-reexport
# ruff: noqa: F401

from rag_ls.search.cache import CACHED_ANSWERS, MADE_ANSWERS
from rag_ls.search.document_order import OrderedDocument
from rag_ls.search.exact import (
    MAX_OCCURRENCES,
    MatchingLines,
    Occurrences,
    PlaceInDocument,
    find_occurrences,
    show_places,
)
from rag_ls.search.preambles import is_import, is_preamble
from rag_ls.search.query import MAX_QUERY_CHARACTERS, QueryKind, analyse, has_word
from rag_ls.search.ranking import group_by_file
from rag_ls.search.roles import BY_PATH, Roles, is_data, is_docs, is_inline_test, part_keys
from rag_ls.search.searcher import Found, Searcher
from rag_ls.search.text_patterns import TextPattern, TextQuery
from rag_ls.search.view import DOCUMENT_KINDS, NO_FILTERS, Filters, View, accepts, explain_filters
