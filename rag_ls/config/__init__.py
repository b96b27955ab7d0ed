"""The settings, and how they are read from files, environment and editor."""

from rag_ls.config.loading import LastGood, Loaded, Problem, load
from rag_ls.config.settings import (
    EmbeddingSettings,
    HttpSettings,
    IndexSettings,
    LogSettings,
    SearchSettings,
    SettingInfo,
    Settings,
    StoreSettings,
    SummarySettings,
    describe,
)

__all__ = [
    "EmbeddingSettings",
    "HttpSettings",
    "IndexSettings",
    "LastGood",
    "Loaded",
    "LogSettings",
    "Problem",
    "SearchSettings",
    "SettingInfo",
    "Settings",
    "StoreSettings",
    "SummarySettings",
    "describe",
    "load",
]
