"""How long agents and editors wait for rules: impact, constraints, a check of the document that is typed in.

The project is the real repository of `scale`, at each size; the vectors are synthetic.
"""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path
from typing import Any

from rag_ls.engine.client import local_client
from rag_ls.engine.code.hovers import find_use_lenses
from rag_ls.engine.session import ProjectSession
from rag_ls.indexing import Patterns
from rag_ls.operations import Operations
from rag_ls.rules.checks.project import check_project
from tests.benchmarks.measure import percentiles, timed
from tests.benchmarks.scale import project_of

_RUNS = 100
_RULES = """rules:
  - {id: no-print, language: python, forbid: print($$$)}
  - {id: no-cycles, no_cycles: true, severity: info}
  - {id: apart, independent: [django/contrib/admin, django/contrib/gis]}
  - {id: types, symbol_names: {kind: type, style: PascalCase}, severity: warning}
"""


def rules_latency(sources: Path, work: Path, sizes: tuple[int, ...]) -> dict[str, Any]:
    """p50 and p95 in milliseconds, by number of chunks; and the seconds of `rag-ls check` in a new checkout."""
    found = {str(size): _measured(project_of(sources, work / f"rules_{size}", size)) for size in sizes}
    return {**found, "check of all files": _checked(sources, work / "checked")}


def _measured(folder: Path) -> dict[str, Any]:
    (folder / "ARCHITECTURE.yml").write_text(_RULES, encoding="utf-8")
    client = local_client()
    try:
        view = client.open(folder)
        view.files_changed(["ARCHITECTURE.yml"])
        # As the engine does after indexing, but waited for.
        view.project.maintain()
        operations = Operations(client)
        paths = _sample(view)
        answered = {
            "impact": lambda path: operations.run("rag_query_impact", {"file_path": path}),
            "constraints": lambda path: operations.run(
                "rag_check_constraints", {"change_description": f"change {path}"}
            ),
            "lenses": partial(find_use_lenses, view),
            "diagnostics": lambda path: view.checks.violations(path, view.checks.text_of(path)),
        }
        return {name: _percentiles(ask, paths) for name, ask in answered.items()}
    finally:
        client.close()


def _percentiles(ask: Any, paths: list[str]) -> dict[str, float]:
    ask(paths[0])
    return percentiles([timed(partial(ask, path)) for path in paths[1:]])


def _sample(view: ProjectSession) -> list[str]:
    paths = sorted(path for path in view.store.documents() if path.endswith(".py"))
    return random.Random(5).sample(paths, min(_RUNS, len(paths)))


def _checked(sources: Path, folder: Path) -> dict[str, float]:
    from tests.benchmarks import corpus

    root = folder if folder.exists() else corpus.copy_of(sources, folder)
    (root / "ARCHITECTURE.yml").write_text(_RULES, encoding="utf-8")
    reports = []
    seconds = timed(lambda: reports.append(check_project(root, patterns=Patterns(), processes=2)))
    return {"files": reports[0].files, "seconds": round(seconds, 2), "violations": len(reports[0].violations)}
