"""Settings: each layer overrides the one before, and what is wrong is said with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.config.engine_settings import StoreSettings
from rag_ls.config.loading import LastGood, Loaded, load_settings
from rag_ls.config.settings import Settings
from rag_ls.config.trust import users_trusted_folders
from rag_ls.config.values import describe_settings
from rag_ls.locations import user_config_file
from rag_ls.project import CONFIG_FILE, Project
from tests.support import write


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with nothing in it, which the user trusts."""
    users_trusted_folders().add(tmp_path)
    return Project(tmp_path)


def _user(text: str) -> None:
    user_config_file().parent.mkdir(parents=True, exist_ok=True)
    user_config_file().write_text(text)


def _load(project: Project, text: str) -> Loaded:
    write(project.root, {CONFIG_FILE: text})
    return load_settings(project, environment={})


def test_without_files_the_defaults_hold(project: Project) -> None:
    assert load_settings(project, environment={}) == Loaded(Settings())


def test_each_layer_overrides_the_one_before(project: Project) -> None:
    _user("[search]\ncode_k = 11\n[storage]\nmax_session_memories = 11\n[hover]\nmax_related = 1\nmax_memories = 1\n")
    write(
        project.root,
        {CONFIG_FILE: "[storage]\nmax_session_memories = 12\n[hover]\nmax_related = 2\nmax_memories = 2\n"},
    )
    environment = {"RAG_LS_HOVER_MAX_RELATED": "3", "RAG_LS_HOVER_MAX_MEMORIES": "3"}
    loaded = load_settings(project, environment=environment, editor={"hover": {"maxMemories": 4}})
    assert loaded.problems == ()
    settings = loaded.settings
    assert (settings.search.code_k, settings.storage.max_session_memories) == (11, 12)
    assert (settings.hover.max_related, settings.hover.max_memories) == (3, 4)


def test_every_setting_is_described_with_its_default_and_meaning() -> None:
    described = {info.key: info for info in describe_settings()}
    assert described["search.code_k"].default == 10
    assert (described["search.code_k"].minimum, described["search.code_k"].maximum) == (1, 100)
    assert described["index.exclude"].type == "list of strings"
    assert all(info.doc.endswith((".", ")")) for info in described.values())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[search]\n\nkk = 3\n", "unknown setting search.kk; known are budget_tokens, code_k, default_k,"),
        ("# comment\n[serach]\ncode_k = 3\n", "unknown section [serach]"),
        ("search = 3\n", "[search] must be a table"),
        ('[search]\ncode_k = "ten"\n', "search.code_k must be a whole number, not 'ten'"),
        ("[search]\ncode_k = true\n", "search.code_k must be a whole number, not True"),
        ("[search]\ncode_k = 1.5\n", "search.code_k must be a whole number"),
        (
            "[storage]\nmax_session_memories = 1000\n[search]\ncode_k = 0\n",
            "search.code_k = 0 is out of range (1 to 100)",
        ),
        ("[search]\ncode_k = 101\n", "out of range"),
        ("[search]\ndense_weight = 1.5\n", "out of range (0 to 1)"),
        ('[index]\nexclude = "*.py"\n', "must be a list of strings"),
        ("[index]\nexclude = [1]\n", "must be a list of strings"),
        ('[embedding]\nmodel = "./mine"\n', "[embedding] is the user's to set"),
        ('[mcp]\ntoolsets = ["code", "magic"]\n', "is not one of code, memory"),
        ("search.code_k = 0\n", "out of range"),
        ("[search]\ncode_k = \n", "is not TOML"),
    ],
)
def test_a_problem_names_the_file_and_what_is_wrong(project: Project, text: str, message: str) -> None:
    loaded = _load(project, text)
    (problem,) = loaded.problems
    assert str(problem).startswith(f"{project.root / CONFIG_FILE}: ")
    assert message in problem.message
    assert loaded.settings == Settings()


def test_one_wrong_setting_does_not_harm_the_others(project: Project) -> None:
    loaded = _load(project, "[search]\ncode_k = 0\nkk = 1\ndense_weight = 1\n[storage]\nmax_session_memories = 7\n")
    assert len(loaded.problems) == 2
    settings = loaded.settings
    assert (settings.search.code_k, settings.search.dense_weight) == (10, 1.0)
    assert settings.storage.max_session_memories == 7


def test_a_wrong_value_leaves_that_of_the_layer_below(project: Project) -> None:
    _user("[search]\ncode_k = 42\n")
    assert _load(project, "[search]\ncode_k = -1\n").settings.search.code_k == 42


def test_broken_toml_leaves_the_other_layers(project: Project) -> None:
    _user("[search]\ncode_k = 42\n")
    loaded = _load(project, "[search\ncode_k = 3")
    assert loaded.settings.search.code_k == 42
    assert "is not TOML" in loaded.problems[0].message


def test_a_file_that_is_not_text_is_a_problem(project: Project) -> None:
    (project.root / CONFIG_FILE).write_bytes(b"\xff\xfe\0")
    loaded = load_settings(project, environment={})
    assert "cannot be read" in loaded.problems[0].message


def test_the_environment_speaks_every_type(project: Project) -> None:
    environment = {
        "RAG_LS_SEARCH_CODE_K": "3", "RAG_LS_SEARCH_MIN_SIMILARITY": "0.5", "RAG_LS_INDEX_ON_OPEN": "False",
        "RAG_LS_INDEX_EXCLUDE": "a/, *.txt,", "RAG_LS_EMBEDDING_MODEL": "all-mpnet-base-v2",
    }  # fmt: skip
    loaded = load_settings(project, environment=environment)
    settings = loaded.settings
    assert loaded.problems == ()
    assert (settings.search.code_k, settings.search.min_similarity, settings.index.on_open) == (3, 0.5, False)
    assert (settings.index.exclude, settings.embedding.model) == (("a/", "*.txt"), "all-mpnet-base-v2")


@pytest.mark.parametrize("variable", ["RAG_LS_SEARCH_CODE_K", "RAG_LS_INDEX_ON_OPEN", "RAG_LS_SEARCH_DENSE_WEIGHT"])
def test_a_wrong_variable_is_a_problem_of_the_environment(project: Project, variable: str) -> None:
    loaded = load_settings(project, environment={variable: "many"})
    assert loaded.settings == Settings()
    assert str(loaded.problems[0]).startswith("environment: ")


@pytest.mark.parametrize("variable", ["RAG_LS_EMBEDDING_MODLE", "RAG_LS_SEARCH_K"])
def test_a_misspelt_variable_is_named_and_one_of_no_section_is_left_alone(project: Project, variable: str) -> None:
    loaded = load_settings(project, environment={variable: "none", "RAG_LS_HOME": "/srv", "RAG_LS_TOKEN": "x"})
    section, key = variable.removeprefix("RAG_LS_").lower().split("_")
    (problem,) = loaded.problems
    assert str(problem).startswith(f"environment: unknown setting {section}.{key}; known are ")


def test_a_settings_file_that_is_no_file_is_named_once(project: Project) -> None:
    (project.root / CONFIG_FILE).mkdir()
    (problem,) = load_settings(project, environment={}).problems
    assert str(problem) == f"{project.root / CONFIG_FILE}: cannot be read: it is no regular file"


def test_the_editor_writes_keys_its_own_way(project: Project) -> None:
    editor = {"hover": {"max_related": 1}, "search": {"denseWeight": 2, "minSimilarity": 0.5}}
    loaded = load_settings(project, environment={}, editor=editor)
    assert (loaded.settings.search.min_similarity, loaded.settings.hover.max_related) == (0.5, 1)
    assert [str(problem) for problem in loaded.problems] == [
        "editor settings: search.dense_weight = 2.0 is out of range (0 to 1)"
    ]


def test_nan_is_out_of_every_range(project: Project) -> None:
    loaded = _load(project, "[search]\ndense_weight = nan\n")
    assert loaded.settings == Settings()
    assert "out of range" in loaded.problems[0].message


def test_a_broken_edit_keeps_the_last_good_settings_until_it_is_mended(project: Project) -> None:
    last_good = LastGood()

    def load(text: str) -> Loaded:
        write(project.root, {CONFIG_FILE: text})
        return load_settings(project, environment={}, last_good=last_good)

    assert load("[search]\ncode_k = 42\ndefault_k = 7\n").settings.search.code_k == 42
    broken = load("[search]\ncode_k = \n")
    assert (broken.settings.search.code_k, broken.settings.search.default_k, len(broken.problems)) == (42, 7, 1)
    partly = load("[search]\ncode_k = 0\ndefault_k = 8\n")
    assert (partly.settings.search.code_k, partly.settings.search.default_k, len(partly.problems)) == (42, 8, 1)
    assert load("[search]\ndefault_k = 9\n").settings.search.code_k == Settings().search.code_k


def test_no_editor_says_where_memories_are_sent(project: Project) -> None:
    loaded = load_settings(project, environment={}, editor={"summaries": {"endpoint": "http://example.org"}})
    assert loaded.settings.summaries.endpoint == ""
    assert "not an editor's to set" in loaded.problems[0].message


def test_what_was_right_in_a_file_with_a_refused_section_outlives_a_broken_edit(project: Project) -> None:
    last_good = LastGood()
    write(project.root, {CONFIG_FILE: '[search]\ndefault_k = 9\n[embedding]\nmodel = "x"\n'})
    assert load_settings(project, environment={}, last_good=last_good).settings.search.default_k == 9
    write(project.root, {CONFIG_FILE: "[search\n"})
    assert load_settings(project, environment={}, last_good=last_good).settings.search.default_k == 9


def _listed(project: Project, text: str) -> Loaded:
    _user(text)
    return load_settings(project, environment={})


def test_the_user_s_file_lists_projects(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    loaded = _listed(
        project,
        '[[projects]]\nname = "shop"\nroots = ["~/shop", "/srv/shop-web"]\ninclude = ["src/**"]\nexclude = ["**/x/**"]\n'
        'branch = "main"\n[[projects]]\nname = "zoo"\nroots = ["/srv/zoo"]\n[search]\ncode_k = 3\n',
    )
    shop, zoo = loaded.settings.projects
    assert (loaded.problems, loaded.settings.search.code_k) == ((), 3)
    assert (shop.name, shop.roots, shop.branch) == (
        "shop",
        (str((tmp_path / "shop").resolve()), "/srv/shop-web"),
        "main",
    )
    assert (shop.include, shop.exclude, zoo.include, zoo.branch) == (("src/**",), ("**/x/**",), (), "")


def test_an_entry_says_what_of_its_project_is_indexed(project: Project) -> None:
    write(project.root, {CONFIG_FILE: '[index]\nexclude = ["a/"]\ninclude = ["b/**"]\n'})
    entry = f'[[projects]]\nname = "shop"\nroots = ["{project.root}"]\nexclude = ["c/"]\nbranch = "main"\n'
    index = _listed(project, entry).settings.index
    assert (index.include, index.exclude, index.branch) == (("b/**",), ("a/", "c/"), "main")
    assert _listed(project, entry + 'include = ["d/**"]\n').settings.index.include == ("d/**",)
    assert load_settings(environment={}).settings.index.exclude == ()


_ZOO = '[[projects]]\nname = "zoo"\nroots = ["/srv/zoo"]\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("projects = 3\n", "write [[projects]] above each"),
        ('projects = ["/srv/shop"]\n', "write [[projects]] above each"),
        (f'{_ZOO}[[projects]]\nname = "shop"\nroot = "/srv"\n', "unknown key projects.root; known are name, roots,"),
        (f'{_ZOO}[[projects]]\nroots = ["/srv"]\n', "projects.name = '': give a name"),
        (f'{_ZOO}[[projects]]\nname = "all"\nroots = ["/srv"]\n', "projects.name = 'all'"),
        (f'{_ZOO}[[projects]]\nname = "shop"\n', 'give its folders, e.g. roots = ["~/work/shop"]'),
        (f'{_ZOO}[[projects]]\nname = "shop"\nroots = "/srv"\n', "projects.roots must be a list of strings"),
        (f'{_ZOO}[[projects]]\nname = "shop"\nroots = ["srv"]\n', "'srv' is no absolute path: begin it with / or ~"),
        (f'{_ZOO}[[projects]]\nname = "shop"\nroots = ["/a"]\nbranch = 3\n', "projects.branch must be a string"),
        (f'{_ZOO}[[projects]]\nname = "zoo"\nroots = ["/a"]\n', "'zoo' stands twice"),
        (f'{_ZOO}[[projects]]\nname = "shop"\nroots = ["/srv/zoo/"]\n', "/srv/zoo is in 'zoo' too"),
    ],
)
def test_a_wrong_entry_is_a_problem_and_does_no_harm(project: Project, text: str, message: str) -> None:
    loaded = _listed(project, text)
    (problem,) = loaded.problems
    assert str(problem).startswith(f"{user_config_file()}: ")
    assert message in problem.message
    assert not text.startswith(_ZOO) or "entry 2 of [[projects]]" in problem.message
    assert [entry.name for entry in loaded.settings.projects] == (["zoo"] if text.startswith(_ZOO) else [])


def test_only_the_user_lists_projects(project: Project) -> None:
    write(project.root, {CONFIG_FILE: _ZOO})
    editor = {"projects": [{"name": "shop", "roots": ["/srv"]}]}
    loaded = load_settings(project, environment={}, editor=editor)
    assert loaded.settings.projects == ()
    assert ["the user's to set" in item.message for item in loaded.problems] == [True, False]
    assert "projects is not an editor's to set" in loaded.problems[1].message


def test_a_store_is_named_in_one_line_by_the_user_alone(project: Project) -> None:
    _user('store = "postgresql://me@db/team"\nshare = "vectors"\n')
    loaded = _load(project, 'store = "postgresql://thief@evil/team"\n')
    assert loaded.settings.store == StoreSettings(url="postgresql://me@db/team", share=("vectors",))
    (problem,) = loaded.problems
    assert "the user's to set" in str(problem)


@pytest.mark.parametrize(
    ("section", "values"),
    [
        (
            "embedding",
            {"provider": "openai", "endpoint": "http://127.0.0.1:9/v1", "apiKeyEnv": "HOME", "model": "/evil"},
        ),
        ("log", {"file": "/home/me/.profile"}),
        ("http", {"enabled": True, "address": "0.0.0.0:80"}),
        ("daemon", {"mode": "never"}),
        ("summaries", {"endpoint": "http://127.0.0.1:9/v1"}),
        ("store", {"url": "postgresql://evil/x"}),
    ],
)
def test_what_is_the_user_s_no_editor_sets(section: str, values: dict[str, object]) -> None:
    loaded = load_settings(environment={}, editor={section: values})
    assert loaded.settings == Settings()
    assert [str(problem).split(":")[1] for problem in loaded.problems] == [f" {section} is not an editor's to set"]
