"""Settings: defaults < user TOML < project TOML < environment < editor.

Each setting is declared once, as a dataclass field with its meaning and limits; the reference in
`docs/configuration.md` and the `rag-ls config` command are generated from these fields.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_type_hints

from rag_ls.known.entries import ProjectEntry, entry_of, line_of, read_entries
from rag_ls.project import CONFIG_FILE, Project, user_config_file

# One model serves all projects, and a cloned repository must not choose files to load or write, or where text is sent.
USER_ONLY = ("embedding", "log", "daemon", "summaries", "projects")
# A cloned repository may bring settings for the editor, too.
_NOT_AN_EDITORS = ("summaries", "projects")
# Of these, what an engine takes at its start, for all who share it.
_ENGINE_ONLY = ("embedding", "log", "daemon")
# `daemon = "never"` stands for `[daemon] mode = "never"`, and RAG_LS_DAEMON for RAG_LS_DAEMON_MODE.
_SHORTHANDS = {"daemon": "mode"}
ENVIRONMENT_PREFIX = "RAG_LS_"


def setting(
    default: Any, doc: str, *, minimum: float | None = None, maximum: float | None = None, choices: tuple[str, ...] = ()
) -> Any:
    """A dataclass field that carries its meaning and its limits."""
    return field(default=default, metadata={"doc": doc, "min": minimum, "max": maximum, "choices": choices})


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSettings:
    """What is indexed."""

    max_file_bytes: int = setting(1_000_000, "Larger files are skipped, and `status` counts them.", minimum=1)
    exclude: tuple[str, ...] = setting((), "Patterns in .gitignore syntax, besides .gitignore and .ragignore.")
    include: tuple[str, ...] = setting(
        (),
        "Only files that match one of these patterns, in the same syntax, are indexed, e.g. `src/**`; empty for all.",
    )
    branch: str = setting(
        "", "The project is indexed in the background only while this git branch is checked out; empty for any."
    )
    watch: bool = setting(
        True, "Notice at once what other programs write; without it, each question compares the files with the index."
    )
    sweep_minutes: float = setting(
        10.0, "The files are compared with the index so often, in case a change was missed; 0 for never.", minimum=0
    )
    on_open: bool = setting(True, "Index a project in the background when an editor or agent opens it.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkingSettings:
    """How documents are cut; sizes in tokens of the embedding model."""

    max_chunk_size: int = setting(
        512, "No chunk holds more tokens; the model's own window is the limit.", minimum=16, maximum=8192
    )
    min_chunk_size: int = setting(24, "Smaller pieces are merged with their siblings.", minimum=1, maximum=4096)
    overlap: int = setting(24, "Tokens repeated where a larger piece had to be split.", minimum=0, maximum=1024)
    strategy: str = setting(
        "semantic_ast",
        "`semantic_ast` cuts along the syntax, `lines` in windows of lines whatever the language.",
        choices=("semantic_ast", "lines"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSettings:
    """How texts become vectors."""

    model: str = setting("auto", "`auto` (the best model on this machine), a known model's name, or a model's folder.")
    backend: str = setting(
        "auto",
        "What runs the model; `auto` takes ONNX for single texts, and OpenVINO (x86) or torch for bulk work.",
        choices=("auto", "torch", "onnx"),
    )
    device: str = setting("auto", "`auto` picks CUDA, then MPS, then the CPU.")
    dimension: int = setting(
        0, "What the model's vectors must have, as a safeguard; 0 takes any.", minimum=0, maximum=65536
    )
    reranker: str = setting("", "The folder of a cross-encoder, for `search.enable_reranking`.")
    batch_size: int = setting(
        32, "Texts per model call; small ones give way to interactive work.", minimum=1, maximum=1024
    )
    threads: int = setting(
        0, "Threads of the model; 0 takes all cores up to 8, for bulk work at low priority.", minimum=0, maximum=256
    )
    on_battery: bool = setting(
        False,
        "Embed whole projects on battery too; without it, new projects are found by words until it is plugged in.",
    )
    max_load: float = setting(
        0.0,
        "Embedding whole projects waits while others keep more than this share of the processor busy; 0 for never.",
        minimum=0,
        maximum=1,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """How hits are ranked."""

    code_k: int = setting(10, "Code hits in an answer when the caller does not say.", minimum=1, maximum=100)
    default_k: int = setting(5, "Memories in an answer when the caller does not say.", minimum=1, maximum=100)
    min_similarity: float = setting(
        0.7,
        "A memory that shares no word with the query must be at least this close in meaning, one that does half of it. "
        "The scale is the same for every model: 0.7 is where texts begin to be about the same.",
        minimum=0,
        maximum=1,
    )
    query_expansion: bool = setting(
        True, "Look for abbreviations and synonyms of the programming world too, in memories."
    )
    enable_reranking: bool = setting(
        False, "Have the cross-encoder `embedding.reranker` order the memories that were found."
    )
    budget_tokens: int = setting(
        0,
        "Longer answers of `search_code` are cut to the lines that matter; 0 for no limit, which for agents over MCP means 4,000.",
        minimum=0,
        maximum=1_000_000,
    )
    dense_weight: float = setting(0.65, "Share of the embedding signal in the score.", minimum=0, maximum=1)
    lexical_weight: float = setting(0.35, "Share of the BM25 signal in the score.", minimum=0, maximum=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySettings:
    """How memories are recalled."""

    half_life_days: float = setting(
        180.0,
        "A memory that is neither changed nor recalled for so long loses half of what recency adds to its rank; "
        "0 for never. Nothing is ever deleted by that.",
        minimum=0,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HnswSettings:
    """The graph that finds neighbours among many vectors; a smaller number is searched exactly."""

    m: int = setting(32, "Links of each vector: more find better and take more memory.", minimum=4, maximum=256)
    ef_construction: int = setting(200, "Candidates looked at while a graph is built.", minimum=8, maximum=4096)
    ef_search: int = setting(50, "Candidates looked at, at least, while it is searched.", minimum=8, maximum=4096)
    distance: str = setting("cosine", "How far apart vectors are.", choices=("cosine",))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationSettings:
    """When memories are merged."""

    similarity_threshold: float = setting(
        0.85,
        "Memories are merged when all of them are at least this close to each other (cosine).",
        minimum=0.5,
        maximum=1,
    )
    auto_consolidate: bool = setting(False, "Consolidate the project's memories while the engine is idle.")


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageSettings:
    """How much is kept."""

    max_session_memories: int = setting(
        1000, "A session keeps no more; the oldest of the least important go first.", minimum=1, maximum=100_000
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarySettings:
    """Who writes summaries of memories. Without an endpoint they are made of the memories' own sentences, on this machine."""

    endpoint: str = setting(
        "", "An OpenAI-compatible API, e.g. `http://localhost:11434/v1` for Ollama; memories are sent there."
    )
    model: str = setting("", "The model to ask for there.")
    api_key_env: str = setting("", "The environment variable that holds the key, where one is needed.")
    timeout_s: float = setting(60.0, "Without an answer by then, the summary is made here.", minimum=1, maximum=600)


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageSettings:
    """Which languages are indexed."""

    enabled: tuple[str, ...] = setting((), "Only files in these languages are indexed, e.g. `python`; empty for all.")


@dataclass(frozen=True, slots=True, kw_only=True)
class HoverSettings:
    """What a hover shows."""

    enabled: bool = setting(True, "Show related memories and code on hover.")
    min_similarity: float = setting(0.62, "Related code must be at least this close (cosine).", minimum=0, maximum=1)
    max_related: int = setting(3, "Related places shown at most.", minimum=0, maximum=10)
    lenses: bool = setting(True, "Show above a declaration how many memories are about it.")
    max_memories: int = setting(3, "Memories shown at most.", minimum=0, maximum=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class McpSettings:
    """What agents are offered."""

    toolsets: tuple[str, ...] = setting(
        ("code", "memory"), "Sets of tools offered to agents.", choices=("code", "memory")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonSettings:
    """The engine that editors, agents and the shell share. `daemon = "never"` is short for its `mode`."""

    mode: str = setting(
        "auto",
        "`auto` starts the engine where none runs, `manual` uses a running one, `never` has every process work alone.",
        choices=("auto", "manual", "never"),
    )
    idle_minutes: float = setting(30.0, "The engine ends when it had no client for so long.", minimum=0.01)
    project_idle_minutes: float = setting(
        10.0, "A project that no client has open is closed after so long.", minimum=0.01
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSettings:
    """Logging, to stderr or a file."""

    level: str = setting("warning", "Least severe level that is logged.", choices=("debug", "info", "warning", "error"))
    file: str = setting("", "A file for the log instead of stderr.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of rag-ls."""

    index: IndexSettings = field(default_factory=IndexSettings)
    chunking: ChunkingSettings = field(default_factory=ChunkingSettings)
    embedding: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    hnsw: HnswSettings = field(default_factory=HnswSettings)
    consolidation: ConsolidationSettings = field(default_factory=ConsolidationSettings)
    storage: StorageSettings = field(default_factory=StorageSettings)
    summaries: SummarySettings = field(default_factory=SummarySettings)
    languages: LanguageSettings = field(default_factory=LanguageSettings)
    hover: HoverSettings = field(default_factory=HoverSettings)
    mcp: McpSettings = field(default_factory=McpSettings)
    daemon: DaemonSettings = field(default_factory=DaemonSettings)
    log: LogSettings = field(default_factory=LogSettings)
    projects: tuple[ProjectEntry, ...] = ()
    """The projects that the user's file lists: `[[projects]]` tables, no section of settings."""

    def of(self, root: Path) -> Settings:
        """As they are for one project, with what its entry in `projects` says of it."""
        entry = entry_of(self.projects, root)
        if entry is None:
            return self
        index = replace(
            self.index,
            include=entry.include or self.index.include,
            exclude=(*self.index.exclude, *entry.exclude),
            branch=entry.branch or self.index.branch,
        )
        return replace(self, index=index)


@dataclass(frozen=True, slots=True)
class Problem:
    """A setting that could not be used, where it stands, and what to do; the former value stays."""

    source: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        place = f"{self.source}:{self.line}" if self.line else self.source
        return f"{place}: {self.message}"


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings with the problems that were met while loading them."""

    settings: Settings
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """One setting, for references and forms."""

    key: str
    type: str
    default: object
    doc: str
    minimum: float | None
    maximum: float | None
    choices: tuple[str, ...]


def load(
    project: Project | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    editor: Mapping[str, Any] | None = None,
    shared: bool = False,
    last_good: LastGood | None = None,
) -> Loaded:
    """The settings in force for `project`: each layer overrides the one before it.

    For an editor that is one of several clients of a `shared` engine, the engine's own settings are not to be set.

    A wrong key, type or value is reported as a `Problem` with its file and line; the rest still loads. With `last_good`,
    what a file said before it was broken still counts.
    """
    files = [user_config_file()] + ([project.root / CONFIG_FILE] if project else [])
    loaded = Loaded(Settings())
    for file in files:
        user_only = () if file == files[0] else USER_ONLY
        loaded = _apply_good(loaded, file, user_only, last_good or LastGood())
    variables = os.environ if environment is None else environment
    loaded = _apply(loaded, _environment_values(variables), "environment", lambda section, key: None)
    if editor:
        values = _snake_keys(editor)
        refused = [section for section in _ENGINE_ONLY if shared and values.pop(section, None) is not None]
        refused += [section for section in _NOT_AN_EDITORS if values.pop(section, None) is not None]
        loaded = _apply(loaded, values, "editor settings", lambda section, key: None)
        hints = [
            Problem("editor settings", f"{section} is not an editor's to set: set it in {files[0]}")
            for section in refused
        ]
        loaded = Loaded(loaded.settings, (*loaded.problems, *hints))
    return replace(loaded, settings=loaded.settings.of(project.root)) if project else loaded


@functools.cache
def describe() -> tuple[SettingInfo, ...]:
    """Every setting, in the order of the reference."""
    return tuple(_described())


def _sections() -> list[dataclasses.Field[Any]]:
    return [item for item in dataclasses.fields(Settings) if item.name != "projects"]


def _described() -> Iterator[SettingInfo]:
    for section in _sections():
        section_type = get_type_hints(Settings)[section.name]
        hints = get_type_hints(section_type)
        for item in dataclasses.fields(section_type):
            kind = "list of strings" if hints[item.name] == tuple[str, ...] else hints[item.name].__name__
            meta = item.metadata
            yield SettingInfo(
                f"{section.name}.{item.name}",
                kind,
                item.default,
                meta["doc"],
                meta["min"],
                meta["max"],
                meta["choices"],
            )


class LastGood:
    """What each settings file said when nothing was wrong with it, so that a broken edit changes nothing."""

    def __init__(self) -> None:
        self._texts: dict[Path, str] = {}

    def text_of(self, file: Path) -> str | None:
        """The last text of a file that had no problem; None where there was none."""
        return self._texts.get(file)

    def note(self, file: Path, text: str) -> None:
        """This text has no problem."""
        self._texts[file] = text


def _apply_good(below: Loaded, file: Path, user_only: tuple[str, ...], last_good: LastGood) -> Loaded:
    loaded, text = _apply_file(below, file, user_only)
    former = last_good.text_of(file)
    if len(loaded.problems) == len(below.problems):
        last_good.note(file, text)
    elif former:
        kept = replace(below, settings=_apply_text(below, file, former, user_only).settings)
        loaded = _apply_file(kept, file, user_only)[0]
    elif loaded.settings != below.settings:
        # Not all of it is wrong, and what is right is all there is to go back to.
        last_good.note(file, text)
    return loaded


def _apply_file(loaded: Loaded, file: Path, user_only: tuple[str, ...]) -> tuple[Loaded, str]:
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return loaded, ""
    except (OSError, UnicodeDecodeError) as error:
        return Loaded(loaded.settings, (*loaded.problems, Problem(str(file), f"cannot be read: {error}"))), ""
    return _apply_text(loaded, file, text, user_only), text


def _apply_text(loaded: Loaded, file: Path, text: str, user_only: tuple[str, ...]) -> Loaded:
    try:
        values = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = re.search(r"line (\d+)", str(error))
        problem = Problem(str(file), f"is not TOML: {error}", int(found[1]) if found else None)
        return Loaded(loaded.settings, (*loaded.problems, problem))
    refused = [
        Problem(str(file), f"[{section}] is the user's to set, in {user_config_file()}", _line_of(text, section, None))
        for section in user_only
        if values.pop(section, None) is not None
    ]
    loaded = Loaded(loaded.settings, (*loaded.problems, *refused))
    if (listed := values.pop("projects", None)) is not None:
        loaded = _with_projects(loaded, listed, file, text)
    return _apply(loaded, values, str(file), lambda section, key: _line_of(text, section, key))


def _with_projects(loaded: Loaded, listed: object, file: Path, text: str) -> Loaded:
    read = read_entries(listed)
    problems = [
        Problem(str(file), fault.message, line_of(text, fault) or _line_of(text, "", "projects"))
        for fault in read.faults
    ]
    return Loaded(replace(loaded.settings, projects=read.entries), (*loaded.problems, *problems))


def _apply(loaded: Loaded, values: Mapping[str, Any], source: str, line_of: Any) -> Loaded:
    settings = loaded.settings
    problems = list(loaded.problems)
    sections = {item.name for item in _sections()}
    for section, given in values.items():
        entries = {_SHORTHANDS[section]: given} if section in _SHORTHANDS and isinstance(given, str) else given
        if section not in sections:
            hint = f"unknown section [{section}]; known are {', '.join(sorted(sections))}"
            problems.append(Problem(source, hint, line_of(section, None)))
        elif not isinstance(entries, Mapping):
            problems.append(Problem(source, f"[{section}] must be a table of settings", line_of("", section)))
        else:
            for key, value in entries.items():
                try:
                    settings = _with_value(settings, section, key, value)
                except ValueError as error:
                    problems.append(Problem(source, str(error), line_of(section, key)))
    return Loaded(settings, tuple(problems))


def _with_value(settings: Settings, section: str, key: str, value: Any) -> Settings:
    group = getattr(settings, section)
    fields = {item.name: item for item in dataclasses.fields(group)}
    if key not in fields:
        raise ValueError(f"unknown setting {section}.{key}; known are {', '.join(sorted(fields))}")
    wanted = get_type_hints(type(group))[key]
    checked = _checked(f"{section}.{key}", wanted, value, fields[key].metadata)
    return dataclasses.replace(settings, **{section: dataclasses.replace(group, **{key: checked})})


def _checked(name: str, wanted: Any, value: Any, limits: Mapping[str, Any]) -> Any:
    value = _converted(name, wanted, value)
    chosen = value if isinstance(value, tuple) else (value,)
    if limits["choices"] and not set(chosen) <= set(limits["choices"]):
        raise ValueError(f"{name} = {value!r} is not one of {', '.join(limits['choices'])}")
    low, high = limits["min"], limits["max"]
    if (low is not None and not value >= low) or (high is not None and not value <= high):
        raise ValueError(f"{name} = {value!r} is out of range ({low} to {'any' if high is None else high})")
    return value


def _converted(name: str, wanted: Any, value: Any) -> Any:
    if wanted == tuple[str, ...]:
        if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
            return tuple(value)
        raise ValueError(f"{name} must be a list of strings, not {value!r}")
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not wanted:
        raise ValueError(f"{name} must be of type {wanted.__name__}, not {value!r}")
    return value


def _environment_values(variables: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    values: dict[str, dict[str, Any]] = {}
    for info in describe():
        section, key = info.key.split(".")
        name = f"{ENVIRONMENT_PREFIX}{section}".upper()
        text = variables.get(f"{name}_{key.upper()}")
        if text is None and _SHORTHANDS.get(section) == key:
            text = variables.get(name)
        if text is not None:
            values.setdefault(section, {})[key] = _from_text(info.type, text)
    return values


def _from_text(kind: str, text: str) -> Any:
    if kind == "list of strings":
        return [part.strip() for part in text.split(",") if part.strip()]
    if kind == "bool":
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)
    try:
        return int(text) if kind == "int" else float(text) if kind == "float" else text
    except ValueError:
        return text


def _snake_keys(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", key).lower(): _snake_keys(value)
        if isinstance(value, Mapping)
        else value
        for key, value in values.items()
    }


def _line_of(text: str, section: str, key: str | None) -> int | None:
    """The line where `key` of `[section]` (or the section's header, without a key) stands, for messages."""
    current = ""
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[+\s*([\w.\-\"' ]+?)\s*\]+", line)
        if header:
            current = header[1].strip("\"' ")
            if current == section and key is None:
                return number
            continue
        name = re.match(r"\s*([\w.\-\"']+)\s*=", line)
        found = name[1].strip("\"'") if name else None
        if found and ((current == section and found == key) or (not current and found in (key, f"{section}.{key}"))):
            return number
    return None
