"""Settings: each layer overrides the one before, and what is wrong is said with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls import config
from rag_ls.config import Loaded, Settings
from rag_ls.project import CONFIG_FILE, Project, user_config_file
from tests.support import write


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with nothing in it."""
    return Project(tmp_path)


def _user(text: str) -> None:
    user_config_file().parent.mkdir(parents=True, exist_ok=True)
    user_config_file().write_text(text)


def _load(project: Project, text: str) -> Loaded:
    write(project.root, {CONFIG_FILE: text})
    return config.load(project, environment={})


def test_without_files_the_defaults_hold(project: Project) -> None:
    assert config.load(project, environment={}) == Loaded(Settings())


def test_each_layer_overrides_the_one_before(project: Project) -> None:
    _user("[search]\nk = 11\n[memory]\nk = 11\n[hover]\nmax_related = 1\nmax_memories = 1\n")
    write(project.root, {CONFIG_FILE: "[memory]\nk = 12\n[hover]\nmax_related = 2\nmax_memories = 2\n"})
    environment = {"RAG_LS_HOVER_MAX_RELATED": "3", "RAG_LS_HOVER_MAX_MEMORIES": "3"}
    loaded = config.load(project, environment=environment, editor={"hover": {"maxMemories": 4}})
    assert loaded.problems == ()
    settings = loaded.settings
    assert (settings.search.k, settings.memory.k) == (11, 12)
    assert (settings.hover.max_related, settings.hover.max_memories) == (3, 4)


def test_every_setting_is_described_with_its_default_and_meaning() -> None:
    described = {info.key: info for info in config.describe()}
    assert described["search.k"].default == 10
    assert (described["search.k"].minimum, described["search.k"].maximum) == (1, 100)
    assert described["index.exclude"].type == "list of strings"
    assert all(info.doc.endswith((".", ")")) for info in described.values())


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("[search]\n\nkk = 3\n", 3, "unknown setting search.kk; known are dense_weight, k, lexical_weight"),
        ("# comment\n[serach]\nk = 3\n", 2, "unknown section [serach]"),
        ("search = 3\n", 1, "[search] must be a table"),
        ('[search]\nk = "ten"\n', 2, "search.k must be of type int, not 'ten'"),
        ("[search]\nk = true\n", 2, "search.k must be of type int, not True"),
        ("[search]\nk = 1.5\n", 2, "search.k must be of type int"),
        ("[memory]\nk = 5\n[search]\nk = 0\n", 4, "search.k = 0 is out of range (1 to 100)"),
        ("[search]\nk = 101\n", 2, "out of range"),
        ("[search]\ndense_weight = 1.5\n", 2, "out of range (0 to 1)"),
        ('[index]\nexclude = "*.py"\n', 2, "must be a list of strings"),
        ("[index]\nexclude = [1]\n", 2, "must be a list of strings"),
        ('[embedding]\nmodel = "./mine"\n', 1, "[embedding] is the user's to set"),
        ('[mcp]\ntoolsets = ["code", "magic"]\n', 2, "is not one of code, memory"),
        ("search.k = 0\n", 1, "out of range"),
        ("[search]\nk = \n", 2, "is not TOML"),
    ],
)
def test_a_problem_names_the_file_the_line_and_what_is_wrong(
    project: Project, text: str, line: int, message: str
) -> None:
    loaded = _load(project, text)
    (problem,) = loaded.problems
    assert str(problem).startswith(f"{project.root / CONFIG_FILE}:{line}: ")
    assert message in problem.message
    assert loaded.settings == Settings()


def test_one_wrong_setting_does_not_harm_the_others(project: Project) -> None:
    loaded = _load(project, "[search]\nk = 0\nkk = 1\ndense_weight = 1\n[memory]\nk = 7\n")
    assert len(loaded.problems) == 2
    assert (loaded.settings.search.k, loaded.settings.search.dense_weight, loaded.settings.memory.k) == (10, 1.0, 7)


def test_a_wrong_value_leaves_that_of_the_layer_below(project: Project) -> None:
    _user("[search]\nk = 42\n")
    assert _load(project, "[search]\nk = -1\n").settings.search.k == 42


def test_broken_toml_leaves_the_other_layers(project: Project) -> None:
    _user("[search]\nk = 42\n")
    loaded = _load(project, "[search\nk = 3")
    assert loaded.settings.search.k == 42
    assert "is not TOML" in loaded.problems[0].message


def test_a_file_that_is_not_text_is_a_problem(project: Project) -> None:
    (project.root / CONFIG_FILE).write_bytes(b"\xff\xfe\0")
    loaded = config.load(project, environment={})
    assert "cannot be read" in loaded.problems[0].message


def test_the_environment_speaks_every_type(project: Project) -> None:
    environment = {
        "RAG_LS_SEARCH_K": "3", "RAG_LS_MEMORY_MIN_SIMILARITY": "0.5", "RAG_LS_INDEX_ON_OPEN": "False",
        "RAG_LS_INDEX_EXCLUDE": "a/, *.txt,", "RAG_LS_EMBEDDING_MODEL": "all-mpnet-base-v2",
    }  # fmt: skip
    loaded = config.load(project, environment=environment)
    settings = loaded.settings
    assert loaded.problems == ()
    assert (settings.search.k, settings.memory.min_similarity, settings.index.on_open) == (3, 0.5, False)
    assert (settings.index.exclude, settings.embedding.model) == (("a/", "*.txt"), "all-mpnet-base-v2")


@pytest.mark.parametrize("variable", ["RAG_LS_SEARCH_K", "RAG_LS_INDEX_ON_OPEN", "RAG_LS_SEARCH_DENSE_WEIGHT"])
def test_a_wrong_variable_is_a_problem_of_the_environment(project: Project, variable: str) -> None:
    loaded = config.load(project, environment={variable: "many"})
    assert loaded.settings == Settings()
    assert str(loaded.problems[0]).startswith("environment: ")


def test_the_editor_writes_keys_its_own_way(project: Project) -> None:
    editor = {"memory": {"minSimilarity": 0.7}, "hover": {"max_related": 1}, "search": {"denseWeight": 2}}
    loaded = config.load(project, environment={}, editor=editor)
    assert (loaded.settings.memory.min_similarity, loaded.settings.hover.max_related) == (0.7, 1)
    assert [str(problem) for problem in loaded.problems] == [
        "editor settings: search.dense_weight = 2.0 is out of range (0 to 1)"
    ]


def test_nan_is_out_of_every_range(project: Project) -> None:
    loaded = _load(project, "[search]\ndense_weight = nan\n")
    assert loaded.settings == Settings()
    assert "out of range" in loaded.problems[0].message
