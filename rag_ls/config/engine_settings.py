"""Declares what a setting carries besides its type and default, and the settings of the engine: models, stores, servers, logs."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import Any

from rag_ls.util.records import dataclass


class SetBy(StrEnum):
    """The sources that may set a section's settings. The user's file and the environment may set all of them."""

    USER = "user"
    """The user alone: one engine serves all projects, and a cloned repository, which may bring an editor's settings too, must
    not choose files to load or write, or where text is sent."""
    ANYONE = "anyone"
    """A project's file and an editor too; what costs or destroys `waits` until the user trusts the folder."""


class TakesEffect(StrEnum):
    """The moment from which a changed value counts in an engine that runs."""

    AT_ONCE = "at once"
    COMPARED = "after the files are compared with the index"
    CUT = "after the documents are cut anew"
    OPENED = "when the project is opened next"
    RESTARTED = "in a new engine, which takes the running one's place"


def setting(
    default: Any,
    doc: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    choices: tuple[str, ...] = (),
    waits: str = "",
    takes_effect: TakesEffect | None = None,
    option: str = "",
    pairs: bool = False,
    is_folder: bool = False,
    expert: bool | None = None,
) -> Any:
    """A dataclass field that carries its meaning, its limits and its rules; who may set it is its section's.

    A value that costs or destroys `waits`, where a project or an editor sets it, until the user trusts the folder:
    `always`, or where it is `above` or `below` what is in force without it (`True` is above `False`, more names of a list
    above fewer). `takes_effect` differs from its section's where given. `option` is the shell's that sets it for one run.
    A list of `pairs` is also given as a table: each item is `PATTERN = NAME`. A text that `is_folder` is a full path, or begins
    with `~`. Few people need an `expert` one: forms show it last.
    """
    metadata = {
        "doc": doc, "minimum": minimum, "maximum": maximum, "choices": choices, "waits": waits, "takes_effect": takes_effect,
        "option": option, "pairs": pairs, "is_folder": is_folder, "expert": expert,
    }  # fmt: skip
    return field(default=default, metadata=metadata)


def section(
    kind: type,
    *,
    set_by: SetBy = SetBy.ANYONE,
    takes_effect: TakesEffect = TakesEffect.AT_ONCE,
    short: str = "",
    expert: bool = False,
) -> Any:
    """A field for a section of settings, with who may set them and when a changed one counts.

    `short` is the setting that `SECTION = "..."` stands for. All settings of an `expert` section are such.
    """
    metadata = {"set_by": set_by, "takes_effect": takes_effect, "short": short, "expert": expert}
    return field(default_factory=kind, metadata=metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSettings:
    """Models that turn texts into vectors."""

    provider: str = setting(
        "local",
        "Who runs the model: this machine, an Ollama server, or a server with OpenAI's `/v1/embeddings`. What would leave this "
        "machine waits until you agree: `rag-ls doctor --confirm-endpoint`.",
        choices=("local", "ollama", "openai"),
    )
    model: str = setting(
        "auto",
        "`auto` (the best model on this machine; `nomic-embed-text:v1.5` with Ollama), a model's name, a model's folder, or "
        "`none` (nothing is embedded: questions are answered by words).",
    )
    endpoint: str = setting("", "The server's address; empty for `http://127.0.0.1:11434` (Ollama) or OpenAI's own.")
    api_key_env: str = setting("", "The environment variable of the engine's process that holds the server's key.")
    query_prefix: str = setting("auto", "The text before each question to a server's model; `auto` knows some models.")
    document_prefix: str = setting(
        "auto", "The text before each document for a server's model; `auto` knows some models."
    )
    max_batch_bytes: int = setting(24_000, "The most bytes of text in one request to a server.", minimum=1000)
    timeout_s: float = setting(60.0, "How long a server may take for one request, in seconds.", minimum=1)
    max_tokens_per_day: int = setting(
        0, "Send a server no more tokens than this in a day (UTC); 0 for no limit.", minimum=0
    )
    backend: str = setting(
        "auto",
        "What runs the model; `auto` takes ONNX for single texts, and OpenVINO (x86) or torch for bulk work.",
        choices=("auto", "torch", "onnx"),
    )
    device: str = setting("auto", "`auto` picks CUDA, then MPS, then the CPU.")
    dimension: int = setting(
        0, "How many numbers each vector of the model must have, as a safeguard. 0: any.", minimum=0, maximum=65536
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
        "Embed whole projects on battery too; otherwise new projects are found by words alone until you plug in.",
        takes_effect=TakesEffect.AT_ONCE,
    )
    max_load: float = setting(
        0.0,
        "Embedding of whole projects waits while other programs keep more than this share of the processor busy. 0: it "
        "never waits.",
        takes_effect=TakesEffect.AT_ONCE,
        minimum=0,
        maximum=1,
    )

    @property
    def is_off(self) -> bool:
        """Whether the user wants no model: nothing is embedded, and questions are answered by words."""
        return self.model == "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class HnswSettings:
    """The graph that finds neighbours among many vectors; a smaller number is searched exactly."""

    m: int = setting(
        32,
        "Links of each vector in the graph of vectors: more find better and take more memory.",
        minimum=4,
        maximum=256,
        waits="above",
    )
    ef_construction: int = setting(
        200,
        "Candidates that are looked at for each vector while the graph of vectors is built: more find better and take longer.",
        minimum=8,
        maximum=4096,
        waits="above",
    )
    ef_search: int = setting(
        50,
        "Candidates that are looked at, at least, when the graph of vectors is searched: more find better and take longer.",
        minimum=8,
        maximum=4096,
        waits="above",
    )
    distance: str = setting("cosine", "How the distance of two vectors is measured.", choices=("cosine",))


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageSettings:
    """Limits of what is kept."""

    max_session_memories: int = setting(
        1000,
        "The most memories that a session keeps. Beyond that, the oldest of the least important are dropped.",
        minimum=1,
        maximum=100_000,
        waits="always",
        expert=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LocationSettings:
    """The folders of data. A changed one moves nothing: move the files of the former one yourself, with no engine running."""

    data: str = setting(
        "",
        "The folder of memories, collections, models and tokens; empty for the system's folder for such data. `RAG_LS_HOME` "
        "moves the settings and the engine's socket and log too.",
        is_folder=True,
    )
    indexes: str = setting(
        "",
        "The folder in which each project has its index; empty for `.rag-ls/` in the project. An index that is left behind "
        "is made anew.",
        is_folder=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarySettings:
    """The writer of summaries of memories: without an endpoint this machine, of the memories' own sentences."""

    endpoint: str = setting(
        "", "An OpenAI-compatible API, e.g. `http://localhost:11434/v1` for Ollama; memories are sent there."
    )
    model: str = setting("", "The model to ask for there.")
    api_key_env: str = setting("", "The environment variable that holds the key, where one is needed.")
    timeout_s: float = setting(
        60.0, "If there is no answer after this many seconds, the summary is made here.", minimum=1, maximum=600
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonSettings:
    """The engine that editors, agents and the shell share. `daemon = "never"` is short for its `mode`."""

    mode: str = setting(
        "auto",
        "`auto` starts the engine where none runs, `manual` uses a running one, `never` has every process work alone.",
        choices=("auto", "manual", "never"),
    )
    idle_minutes: float = setting(30.0, "The engine ends after this many minutes without a client.", minimum=0.01)
    project_idle_minutes: float = setting(
        10.0, "A project that no client has open is closed after this many minutes.", minimum=0.01
    )
    max_connections: int = setting(
        500,
        "Editors, agents and commands that it serves at the same time; further ones work alone, without it.",
        minimum=1,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """The engine over HTTP, for agents elsewhere, scripts and a browser. Limits count for each token."""

    enabled: bool = setting(False, "Serve HTTP as long as the engine runs; the engine then stays.")
    address: str = setting("127.0.0.1:17080", "HOST:PORT to listen on.", option="serve --http")
    cert: str = setting(
        "",
        "The file of a TLS certificate (PEM), with the chain. Other addresses than loopback need it.",
        option="serve --cert",
    )
    key: str = setting("", "The file of its private key (PEM).", option="serve --key")
    behind_proxy: bool = setting(
        False,
        "A proxy in front does TLS, so another address than loopback may go without.",
        option="serve --behind-proxy",
    )
    hosts: tuple[str, ...] = setting((), "Names by which clients may call the server, besides its own address.")
    origins: tuple[str, ...] = setting((), "Web origins whose pages may ask too (CORS), e.g. `https://ci.example.com`.")
    max_body_bytes: int = setting(10_000_000, "Larger requests are refused (413).", minimum=1000)
    max_searches: int = setting(8, "Requests that are answered at the same time; more are refused (429).", minimum=1)
    max_sessions: int = setting(100, "MCP sessions that are open at the same time; more are refused (429).", minimum=1)
    session_idle_minutes: float = setting(
        30.0, "A session ends after this many minutes without a request.", minimum=0.01
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """The server where a team shares its data (docs/team.md). `store = "postgresql://..."` stands for `store.url`."""

    url: str = setting(
        "",
        "A server: `postgresql://user@host:5432/database`, or Qdrant's, `qdrant://host:6334`; empty for none.",
        option="index --store",
    )
    share: tuple[str, ...] = setting(
        ("vectors",),
        "What is shared: `vectors` by the hash of their text, nothing readable; `chunks`, the code itself, readable "
        "for all who may read there (PostgreSQL), where `rag-ls store publish` is called.",
        choices=("vectors", "chunks"),
    )
    search: str = setting(
        "local",
        "Where vectors are searched: `local` copies them to this machine; `server` leaves them there, which PostgreSQL needs pgvector for.",
        choices=("local", "server"),
    )
    quantization: str = setting(
        "none",
        "How Qdrant keeps vectors in memory: whole, with 8 bits a number (`scalar`), or with one (`binary`); the best are measured again.",
        choices=("none", "scalar", "binary"),
    )
    on_disk: bool = setting(False, "Whether Qdrant leaves whole vectors on disk: less memory, slower answers.")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSettings:
    """Logging, to stderr or a file."""

    level: str = setting("warning", "Least severe level that is logged.", choices=("debug", "info", "warning", "error"))
    file: str = setting("", "A file for the log instead of stderr.")
