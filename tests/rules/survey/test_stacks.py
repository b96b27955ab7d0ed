"""Frontends, backends and libraries, found by their manifests."""

from __future__ import annotations

import json

import pytest

from rag_ls.rules.survey.stacks import Stack, backend_of, find_stacks, frontend_of, with_endpoints


def stacks(files: dict[str, str]) -> list[Stack]:
    return find_stacks(list(files), lambda path: files.get(path, ""))


def package(**dependencies: str) -> str:
    return json.dumps({"private": True, "dependencies": dependencies})


def test_a_frontend_beside_a_backend() -> None:
    found = stacks(
        {
            "frontend/package.json": json.dumps({"devDependencies": {"vite": "5", "svelte": "4", "typescript": "5"}}),
            "frontend/src/app.ts": "",
            "backend/requirements.txt": "Flask>=2 # web\nflask-cors\n",
            "backend/app.py": "",
        }
    )
    assert found == [
        Stack("backend", "backend", "python", "backend/requirements.txt", ("Flask",)),
        Stack("frontend", "frontend", "typescript", "frontend/package.json", ("Svelte", "Vite")),
    ]
    assert (frontend_of(found), backend_of(found)) == ("frontend", "backend")


@pytest.mark.parametrize(
    ("manifest", "text", "source", "language", "framework"),
    [
        (
            "pyproject.toml",
            '[project]\nname = "x"\ndependencies = ["fastapi[standard]>=0.1"]',
            "a.py",
            "python",
            "FastAPI",
        ),
        (
            "pyproject.toml",
            '[tool.poetry]\nname = "x"\n[tool.poetry.dependencies]\nDjango = "^5"',
            "a.py",
            "python",
            "Django",
        ),
        ("setup.py", "setup(install_requires=['flask>=1', 'x'])", "a.py", "python", "Flask"),
        (
            "setup.cfg",
            "[options]\ninstall_requires =\n    Django>=3\n    x\npython_requires = 1\n",
            "a.py",
            "python",
            "Django",
        ),
        ("go.mod", "module x\nrequire (\n\tgithub.com/go-chi/chi/v5 v5.0.1\n)", "main.go", "go", "chi"),
        ("Cargo.toml", '[package]\nname = "x"\n[dependencies]\naxum = "0.7"', "src/main.rs", "rust", "axum"),
        ("pom.xml", "<artifactId>spring-boot-starter-web</artifactId>", "src/A.java", "java", "Spring Boot"),
        (
            "build.gradle.kts",
            'kotlin("jvm")\nimplementation("io.ktor:ktor-server-core:2")',
            "src/A.kt",
            "kotlin",
            "Ktor",
        ),
        ("composer.json", '{"type": "project", "require": {"laravel/framework": "11"}}', "a.php", "php", "Laravel"),
        ("Gemfile", 'gem "rails", "~> 7"\n', "app/a.rb", "ruby", "Rails"),
        ("mix.exs", 'defp deps do\n  [{:phoenix, "~> 1.7"}]\nend', "lib/a.ex", "elixir", "Phoenix"),
        ("Web.csproj", '<Project Sdk="Microsoft.NET.Sdk.Web"></Project>', "Program.cs", "csharp", "ASP.NET Core"),
        ("package.json", '{"main": "index.js", "dependencies": {"express": "4"}}', "index.js", "javascript", "Express"),
    ],
)
def test_the_root_is_the_backend_in_every_stack(
    manifest: str, text: str, source: str, language: str, framework: str
) -> None:
    found = stacks({manifest: text, source: ""})
    assert found == [Stack("", "backend", language, manifest, (framework,))]
    assert (frontend_of(found), backend_of(found)) == (None, "")


def test_one_manifest_may_be_a_frontend_and_a_backend() -> None:
    found = stacks({"package.json": package(react="18", express="4"), "server.js": ""})
    assert [(stack.role, stack.frameworks) for stack in found] == [("backend", ("Express",)), ("frontend", ("React",))]


def test_the_folders_of_a_monorepo_are_stacks_too() -> None:
    found = stacks(
        {
            "package.json": '{"workspaces": ["packages/*"]}',
            "packages/ui/package.json": '{"peerDependencies": {"react": "18"}, "devDependencies": {"react": "18"}}',
            "packages/ui/a.tsx": "",
            "apps/web/package.json": package(next="14", react="18"),
            "apps/web/b.tsx": "",
            "services/mail/go.mod": "module mail",
            "services/mail/main.go": "",
        }
    )
    assert [(stack.folder, stack.role) for stack in found] == [
        ("", "package"), ("apps/web", "frontend"), ("packages/ui", "package"), ("services/mail", "package"),
    ]  # fmt: skip
    assert frontend_of(found) == "apps/web"


def test_a_manifest_without_a_framework_is_a_backend_in_such_a_folder() -> None:
    assert backend_of(stacks({"server/go.mod": "module x", "server/main.go": ""})) == "server"


def test_vendored_example_and_test_manifests_do_not_count() -> None:
    files = {
        "node_modules/react/package.json": package(react="1"), "examples/a/package.json": package(react="1"),
        "tests/app/package.json": package(react="1"), "examples/a/a.js": "", "tests/app/a.js": "", "node_modules/react/a.js": "",
    }  # fmt: skip
    assert stacks(files) == []


def test_broken_manifests_are_no_stacks() -> None:
    assert (
        stacks({"package.json": "{", "pyproject.toml": "[", "composer.json": "[]", "a.py": "", "a.js": "", "a.php": ""})
        == []
    )


def test_a_manifest_without_sources_is_no_stack() -> None:
    assert stacks({"package.json": package(prettier="3"), "main.go": ""}) == []


def test_of_several_frontends_in_folders_of_no_usual_name_none_is_the_main_one() -> None:
    files = {
        "apps/shop/package.json": package(vue="3"),
        "apps/shop/a.ts": "",
        "apps/admin/package.json": package(vue="3"),
        "apps/admin/a.ts": "",
    }
    found = stacks(files)
    assert frontend_of(found) is None
    assert frontend_of(found[:1]) == found[0].folder


def test_what_a_workspace_develops_with_makes_no_frontend_of_its_root() -> None:
    manifest = '{"private": true, "devDependencies": {"vite": "5"}}'
    assert [stack.role for stack in stacks({"package.json": manifest, "pnpm-workspace.yaml": "", "a.ts": ""})] == [
        "package"
    ]


def test_a_client_of_phoenix_is_no_backend() -> None:
    (found,) = stacks({"assets/package.json": package(phoenix="1.7"), "assets/a.js": ""})
    assert (found.role, found.frameworks) == ("package", ())


def test_a_tool_s_framework_beside_the_frontend_s_own_is_not_told() -> None:
    manifest = json.dumps({"dependencies": {"@angular/core": "18"}, "devDependencies": {"react": "18", "vite": "5"}})
    (found,) = stacks({"package.json": manifest, "a.ts": ""})
    assert found.frameworks == ("Angular",)


def test_a_server_with_a_command_is_a_backend() -> None:
    manifest = json.dumps({"bin": "prod.js", "dependencies": {"express": "4"}})
    (found,) = stacks({"package.json": manifest, "a.js": ""})
    assert (found.role, found.frameworks) == ("backend", ("Express",))


def test_a_module_with_several_routes_is_a_backend_though_its_manifest_names_no_framework() -> None:
    found = stacks(
        {"pom.xml": "<project/>", "A.java": "", "web/pom.xml": "<project/>", "web/B.java": "", "web/c.js": ""}
    )
    places = [("web/B.java", "java")] * 3
    assert [each.role for each in with_endpoints(found, places)] == ["package", "backend"]
    assert [each.role for each in with_endpoints(found, places[:2])] == ["package", "package"]
    assert [each.role for each in with_endpoints(found, [("web/c.js", "javascript")] * 3)] == ["package"] * 2


def test_a_module_called_setup_is_no_manifest() -> None:
    files = {"web/setup.py": "@routes.route('/setup')\ndef setup():\n    return 1\n", "web/a.py": ""}
    assert stacks(files) == []


def test_a_catalog_of_versions_names_ktor() -> None:
    text = "plugins { alias(libs.plugins.kotlin.jvm) }\ndependencies { implementation(ktorLibs.server.netty) }\n"
    (found,) = stacks({"build.gradle.kts": text, "src/A.kt": ""})
    assert (found.role, found.frameworks) == ("backend", ("Ktor",))


def test_the_groups_of_a_project_file_name_its_packages_but_those_for_development() -> None:
    text = '[dependency-groups]\nmain = ["Django==5.2"]\ndev = ["flask"]\n'
    (found,) = stacks({"pyproject.toml": text, "manage.py": ""})
    assert (found.folder, found.role, found.frameworks) == ("", "backend", ("Django",))


def test_a_framework_that_others_stand_on_is_told_where_it_is_alone() -> None:
    (django,) = stacks({"requirements.txt": "django\naiohttp\ntornado\n", "app.py": ""})
    (client,) = stacks({"requirements.txt": "aiohttp\n", "app.py": ""})
    assert (django.frameworks, client.frameworks) == (("Django",), ("aiohttp",))
