"""The role of a file, as its path tells it."""

from __future__ import annotations

import pytest

from rag_ls.search.roles import is_migration_step, is_secondary_by_path, is_test_by_path


@pytest.mark.parametrize(
    "path",
    [
        "public/plugins/codemirror-5.17.0/mode/clike/clike.js",
        "app/static/bootstrap/bootstrap4/js/bootstrap.js",
        "public/js/jquery.are-you-sure.js",
        "web/css/font-awesome-4.0.3.css",
        "web/dist/external.css",
        "public/libs/tinymce/tinymce.d.ts",
        "lang/de/errors.php",
        "app/translations/zh_Hans_CN/LC_MESSAGES/admin.po",
        "gui/i18n/pt-BR.json",
    ],
)
def test_bundled_libraries_and_translations_are_not_the_products_own_code(path: str) -> None:
    assert is_secondary_by_path(path)


@pytest.mark.parametrize(
    "path",
    [
        "resources/bootstrap.js",
        "public/app/plugins/panel.ts",
        "src/js/momentum.js",
        "static/js/highlighter.js",
        "rag_ls/languages/go.py",
        "src/i18n/loader.ts",
        "app/Translation/LocaleManager.php",
        "api/openapi-3.0.0/schema.py",
    ],
)
def test_names_like_those_of_libraries_and_translations_are_the_products_own(path: str) -> None:
    assert not is_secondary_by_path(path)


@pytest.mark.parametrize(("path", "is_secondary"), [("js/d3/" * 680 + "x.js", True), ("js/" * 1300 + "x.js", False)])
def test_a_path_of_many_folders_is_judged_in_time_that_grows_with_it_alone(path: str, is_secondary: bool) -> None:
    assert is_secondary_by_path(path) is is_secondary


@pytest.mark.parametrize(
    ("path", "is_step"),
    [
        ("db/migrate/20230224175634_create_jobs.rb", True),
        ("shop/migrations/0001_initial.py", True),
        ("prisma/migrations/03_index/migration.sql", True),
        ("src/main/resources/db/migration/V2__users.sql", True),
        ("models/migrations/v1_22/v286.go", True),
        ("migrations/1/up.sql", True),
        ("pkg/migrate/v1/handler.go", False),
        ("src/migration/v1alpha1/types.go", False),
        ("src/migrations/2fa/enable.py", False),
        ("django/db/migrations/autodetector.py", False),
        ("internal/db/migrations/migrations.go", False),
        ("lib/migrate.rb", False),
    ],
)
def test_a_numbered_step_is_told_from_the_code_that_runs_migrations(path: str, is_step: bool) -> None:
    assert is_migration_step(path) is is_step


@pytest.mark.parametrize(
    "path", ["src/addDays/test.ts", "src/add/test.js", "lib/add/test.mjs", "crates/fsm/src/tests.rs"]
)
def test_a_file_that_is_called_test_is_one(path: str) -> None:
    assert is_test_by_path(path)


@pytest.mark.parametrize(
    "path",
    ["config/environments/test.rb", "emails/test.tsx", "lua/utils/spec.lua", "src/latest.ts", "relay/channel-test.go"],
)
def test_settings_and_templates_for_tests_are_none(path: str) -> None:
    assert not is_test_by_path(path)
