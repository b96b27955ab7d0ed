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
    """A dataclass field that carries its limits and its rules. Its section says who may set it, the docstring below what it means.

    A value that costs or destroys `waits`, where a project or an editor sets it, until the user trusts the folder:
    `always`, or where it is `above` or `below` what is in force without it (`True` is above `False`, more names of a list
    above fewer). `takes_effect` differs from its section's where given. `option` is the shell's that sets it for one run.
    A list of `pairs` is also given as a table: each item is `PATTERN = NAME`. A text that `is_folder` is a full path, or begins
    with `~`. Few people need an `expert` one: forms show it last.
    """
    metadata = {
        "minimum": minimum, "maximum": maximum, "choices": choices, "waits": waits, "takes_effect": takes_effect,
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

    provider: str = setting("local", choices=("local", "ollama", "openai"))
    """The runner of the model: this machine, an Ollama server, or a server with OpenAI's `/v1/embeddings`. Nothing
    leaves this machine until you agree: `rag-ls doctor --confirm-endpoint`."""
    model: str = setting("auto")
    """`auto` (the best model on this machine; `nomic-embed-text:v1.5` with Ollama), a model's name, a model's folder, or `none`
    (nothing is embedded: questions are answered by words)."""
    endpoint: str = setting("")
    """The server's address; empty for `http://127.0.0.1:11434` (Ollama) or OpenAI's own."""
    api_key_env: str = setting("")
    """The environment variable of the engine's process that holds the server's key."""
    query_prefix: str = setting("auto")
    """The text before each question to a server's model; `auto` knows some models."""
    document_prefix: str = setting("auto")
    """The text before each document for a server's model; `auto` knows some models."""
    max_batch_bytes: int = setting(24_000, minimum=1000)
    """The most bytes of text in one request to a server."""
    timeout_s: float = setting(60.0, minimum=1)
    """The seconds that a server may take for one request."""
    max_tokens_per_day: int = setting(0, minimum=0)
    """Send a server no more tokens than this in a day (UTC); 0 for no limit."""
    backend: str = setting("auto", choices=("auto", "torch", "onnx"))
    """The library that runs the model; `auto` takes ONNX for single texts, and OpenVINO (x86) or torch for bulk work."""
    device: str = setting("auto")
    """`auto` picks CUDA, then MPS, then the CPU."""
    dimension: int = setting(0, minimum=0, maximum=65536)
    """The count of numbers that each vector of the model must have, as a safeguard. 0: any."""
    reranker: str = setting("")
    """The folder of a cross-encoder, for `search.enable_reranking`."""
    batch_size: int = setting(32, minimum=1, maximum=1024)
    """Texts per model call; small ones give way to interactive work."""
    threads: int = setting(0, minimum=0, maximum=256)
    """Threads of the model; 0 takes all cores up to 8, for bulk work at low priority."""
    on_battery: bool = setting(False, takes_effect=TakesEffect.AT_ONCE)
    """Embed whole projects on battery too; otherwise new projects are found by words alone until you plug in."""
    max_load: float = setting(0.0, takes_effect=TakesEffect.AT_ONCE, minimum=0, maximum=1)
    """Embedding of whole projects waits while other programs keep more than this share of the processor busy. 0: it never waits."""

    @property
    def is_off(self) -> bool:
        """Whether the user wants no model: nothing is embedded, and questions are answered by words."""
        return self.model == "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class HnswSettings:
    """The graph that finds neighbours among many vectors; a smaller number is searched exactly."""

    m: int = setting(32, minimum=4, maximum=256, waits="above")
    """Links of each vector in the graph of vectors: more find better and take more memory."""
    ef_construction: int = setting(200, minimum=8, maximum=4096, waits="above")
    """Candidates that are looked at for each vector while the graph of vectors is built: more find better and take longer."""
    ef_search: int = setting(50, minimum=8, maximum=4096, waits="above")
    """Candidates that are looked at, at least, when the graph of vectors is searched: more find better and take longer."""
    distance: str = setting("cosine", choices=("cosine",))
    """The measure of the distance of two vectors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageSettings:
    """Limits of what is kept."""

    max_session_memories: int = setting(1000, minimum=1, maximum=100_000, waits="always", expert=True)
    """The most memories that a session keeps. Beyond that, the oldest of the least important are dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocationSettings:
    """The folders of data. A changed one moves nothing: move the files of the former one yourself, with no engine running."""

    data: str = setting("", is_folder=True)
    """The folder of memories, collections, models and tokens; empty for the system's folder for such data. `RAG_LS_HOME` moves the
    settings and the engine's socket and log too."""
    indexes: str = setting("", is_folder=True)
    """The folder in which each project has its index; empty for `.rag-ls/` in the project. An index that is left behind is made anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarySettings:
    """The writer of summaries of memories: without an endpoint this machine, of the memories' own sentences."""

    endpoint: str = setting("")
    """An OpenAI-compatible API, e.g. `http://localhost:11434/v1` for Ollama; memories are sent there."""
    model: str = setting("")
    """The model to ask for there."""
    api_key_env: str = setting("")
    """The environment variable that holds the key, where one is needed."""
    timeout_s: float = setting(60.0, minimum=1, maximum=600)
    """If there is no answer after this many seconds, the summary is made here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonSettings:
    """The engine that editors, agents and the shell share. `daemon = "never"` is short for its `mode`."""

    mode: str = setting("auto", choices=("auto", "manual", "never"))
    """`auto` starts the engine where none runs, `manual` uses a running one, `never` has every process work alone."""
    idle_minutes: float = setting(30.0, minimum=0.01)
    """The engine ends after this many minutes without a client."""
    project_idle_minutes: float = setting(10.0, minimum=0.01)
    """A project that no client has open is closed after this many minutes."""
    max_connections: int = setting(500, minimum=1)
    """Editors, agents and commands that it serves at the same time; further ones work alone, without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """The engine over HTTP, for agents elsewhere, scripts and a browser. Limits count for each token."""

    enabled: bool = setting(False)
    """Serve HTTP as long as the engine runs; the engine then stays."""
    address: str = setting("127.0.0.1:17080", option="serve --http")
    """HOST:PORT to listen on."""
    cert: str = setting("", option="serve --cert")
    """The file of a TLS certificate (PEM), with the chain. Other addresses than loopback need it."""
    key: str = setting("", option="serve --key")
    """The file of its private key (PEM)."""
    behind_proxy: bool = setting(False, option="serve --behind-proxy")
    """A proxy in front does TLS, so another address than loopback may go without."""
    hosts: tuple[str, ...] = setting(())
    """Names by which clients may call the server, besides its own address."""
    origins: tuple[str, ...] = setting(())
    """Web origins whose pages may ask too (CORS), e.g. `https://ci.example.com`."""
    max_body_bytes: int = setting(10_000_000, minimum=1000)
    """Larger requests are refused (413)."""
    max_searches: int = setting(8, minimum=1)
    """Requests that are answered at the same time; more are refused (429)."""
    max_sessions: int = setting(100, minimum=1)
    """MCP sessions that are open at the same time; more are refused (429)."""
    session_idle_minutes: float = setting(30.0, minimum=0.01)
    """A session ends after this many minutes without a request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """The server where a team shares its data (docs/team.md). `store = "postgresql://..."` stands for `store.url`."""

    url: str = setting("", option="index --store")
    """A server: `postgresql://user@host:5432/database`, or Qdrant's, `qdrant://host:6334`; empty for none."""
    share: tuple[str, ...] = setting(("vectors",), choices=("vectors", "chunks"))
    """The parts that are shared: `vectors` by the hash of their text, nothing readable; `chunks`, the code itself, readable for all who
    may read there (PostgreSQL), where `rag-ls store publish` is called."""
    search: str = setting("local", choices=("local", "server"))
    """The place where vectors are searched: `local` copies them to this machine; `server` leaves them there, which PostgreSQL needs
    pgvector
    for."""
    quantization: str = setting("none", choices=("none", "scalar", "binary"))
    """The form in which Qdrant keeps vectors in memory: whole, with 8 bits a number (`scalar`), or with one (`binary`); the best are
    measured again."""
    on_disk: bool = setting(False)
    """Whether Qdrant leaves whole vectors on disk: less memory, slower answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSettings:
    """Logging, to stderr or a file."""

    level: str = setting("warning", choices=("debug", "info", "warning", "error"))
    """Least severe level that is logged."""
    file: str = setting("")
    """A file for the log instead of stderr."""
