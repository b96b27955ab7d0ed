"""The rules that settings carry on their fields: who may set each, and when a changed value counts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path

import pytest

from rag_ls.config import values
from rag_ls.config.engine_settings import SetBy, TakesEffect
from rag_ls.config.loading import Loaded, load_settings
from rag_ls.config.settings import Settings
from rag_ls.config.values import SettingInfo, describe_settings
from rag_ls.daemon.background import _with_option
from rag_ls.daemon.engine_files import ChangedSettings
from rag_ls.locations import user_config_file
from rag_ls.project import CONFIG_FILE, Project
from tests.support import write

_EXTENSION = Path(__file__).parents[2] / "editors" / "vscode" / "package.json"
# The extension's own: they say how the server is found.
_EXTENSIONS_OWN = {"ragLs.path", "ragLs.installFrom"}
# No other value is allowed.
_FIXED = {"hnsw.distance"}

_CHANGEABLE = [info for info in describe_settings() if info.key not in _FIXED]


def _other(info: SettingInfo) -> object:
    """An allowed value that is not the default, and costs or destroys where one of the setting's does."""
    if info.type == "bool":
        return not info.default
    if info.type == "list of strings":
        return [*info.choices] if info.choices else ["x = ascii" if info.pairs else "x"]
    if info.is_folder:
        return "/x"
    if info.type == "str":
        return next(choice for choice in info.choices if choice != info.default) if info.choices else "x"
    assert isinstance(info.default, int | float)
    kind = type(info.default)
    above = kind(min(info.default + 1, info.maximum or info.default + 1))
    below = kind(info.minimum or 0)
    return below if below < info.default and info.waits != "above" else above


def _nested(info: SettingInfo) -> dict[str, dict[str, object]]:
    section, key = info.key.split(".")
    return {section: {key: _other(info)}}


def _in_force(loaded: Loaded, info: SettingInfo) -> object:
    value = info.value_in(loaded.settings)
    return list(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize("info", _CHANGEABLE, ids=lambda info: info.key)
def test_a_foreign_project_and_an_editor_set_what_they_may_and_are_told_the_rest(
    tmp_path: Path, info: SettingInfo
) -> None:
    section, key = info.key.split(".")
    write(tmp_path, {CONFIG_FILE: f"[{section}]\n{key} = {json.dumps(_other(info))}\n"})
    of_project = load_settings(Project(tmp_path), environment={})
    of_editor = load_settings(environment={}, editor=_nested(info))
    user = user_config_file()
    if info.set_by is SetBy.USER:
        assert of_project.settings == of_editor.settings == Settings()
        assert [problem.message for problem in of_project.problems] == [f"[{section}] is the user's to set, in {user}"]
        assert [problem.message for problem in of_editor.problems] == [
            f"{section} is not an editor's to set: set it in {user}"
        ]
    elif info.waits:
        assert of_project.settings == of_editor.settings == Settings()
        assert of_project.waiting == of_editor.waiting == (info.key,)
    else:
        assert _in_force(of_project, info) == _in_force(of_editor, info) == _other(info)
    # The user may set everything.
    write(user.parent, {user.name: f"[{section}]\n{key} = {json.dumps(_other(info))}\n"})
    of_user = load_settings(environment={})
    assert _in_force(of_user, info) == _other(info)
    assert of_user.problems == ()


def test_vs_code_offers_exactly_what_an_editor_may_set() -> None:
    manifest = json.loads(_EXTENSION.read_text(encoding="utf-8"))
    offered = set(manifest["contributes"]["configuration"]["properties"]) - _EXTENSIONS_OWN
    refused = {
        f"ragLs.{info.key}" for info in _CHANGEABLE if load_settings(environment={}, editor=_nested(info)).problems
    }
    assert offered == {f"ragLs.{info.key}" for info in describe_settings()} - refused
    orders = {key: item["order"] for key, item in manifest["contributes"]["configuration"]["properties"].items()}
    experts = {f"ragLs.{info.key}" for info in describe_settings() if info.expert} & offered
    assert max(orders[key] for key in orders.keys() - experts) < min(orders[key] for key in experts)
    restricted = set(manifest["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"])
    assert restricted - _EXTENSIONS_OWN == {f"ragLs.{info.key}" for info in describe_settings() if info.waits}


@pytest.mark.parametrize("info", _CHANGEABLE, ids=lambda info: info.key)
def test_a_changed_setting_takes_the_effect_that_it_declares(info: SettingInfo) -> None:
    section, key = info.key.split(".")
    former = Settings()
    value = _other(info)
    changed = replace(getattr(former, section), **{key: tuple(value) if isinstance(value, list) else value})
    assert values.effects_of(former, replace(former, **{section: changed})) == {info.takes_effect}
    assert values.effects_of(former, former) == frozenset()


@pytest.mark.parametrize(
    ("values", "is_for_a_new_engine"),
    [
        ({"embedding": "batch_size = 7"}, True),
        ({"log": 'level = "info"'}, True),
        ({"http": "enabled = true"}, True),
        ({"store": 'url = "postgresql://a/b"'}, True),
        ({"search": "code_k = 7"}, False),
        ({"summaries": 'model = "small"'}, False),
        # Whether to embed now is asked at each batch.
        ({"embedding": "on_battery = true"}, False),
        ({"embedding": "max_load = 0.5"}, False),
    ],
)
def test_a_new_engine_takes_over_where_only_it_can_apply_a_setting(
    values: Mapping[str, str], is_for_a_new_engine: bool
) -> None:
    file = user_config_file()
    has_other = ChangedSettings(lambda: load_settings(environment={}).settings)
    write(file.parent, {file.name: "".join(f"[{section}]\n{line}\n" for section, line in values.items())})
    assert has_other() is is_for_a_new_engine


def test_a_client_asks_the_engine_for_no_other_settings_of_http_than_those_with_an_option() -> None:
    assert {key for key in _with_option() if key.startswith("http.")} == {
        "http.address", "http.cert", "http.key", "http.behind_proxy",
    }  # fmt: skip


def test_every_setting_says_who_may_set_it_and_when_it_counts() -> None:
    assert {info.key.split(".")[0] for info in describe_settings()} == {item.name for item in fields(Settings)} - {
        "projects"
    }
    for info in describe_settings():
        assert isinstance(info.set_by, SetBy), info.key
        assert isinstance(info.takes_effect, TakesEffect), info.key
        assert info.waits in ("", "always", "above", "below"), info.key
        assert not (info.waits and info.set_by is SetBy.USER), f"{info.key}: what is the user's need not wait"
