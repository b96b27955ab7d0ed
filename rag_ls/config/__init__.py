"""The settings, and how they are read from files, environment and editor."""

from rag_ls.config.described import SettingInfo, describe, effects_of, sections
from rag_ls.config.fields import SetBy, TakesEffect
from rag_ls.config.loading import LastGood, Loaded, Problem, load
from rag_ls.config.settings import (
    DaemonSettings,
    EmbeddingSettings,
    HttpSettings,
    IndexSettings,
    LogSettings,
    SearchSettings,
    Settings,
    StoreSettings,
    SummarySettings,
)

__all__ = [
    "DaemonSettings",
    "EmbeddingSettings",
    "HttpSettings",
    "IndexSettings",
    "LastGood",
    "Loaded",
    "LogSettings",
    "Problem",
    "SearchSettings",
    "SetBy",
    "SettingInfo",
    "Settings",
    "StoreSettings",
    "SummarySettings",
    "TakesEffect",
    "describe",
    "effects_of",
    "load",
    "sections",
]
