"""A rule is about the files that its text names, and those below its document's folder."""

from __future__ import annotations

import pytest
import yaml

from rag_ls.rules.finding import find_rules_for_others
from rag_ls.rules.scopes import (
    governs,
    in_scope,
    is_about,
    is_foreign,
    may_be_for,
    name_depth,
    stated_globs,
    without_head,
)


@pytest.mark.parametrize(
    ("text", "path", "named"),
    [
        ("Everything in `src/api/` returns JSON.", "src/api/users.py", "src/api/"),
        ("Everything in src/api/ returns JSON.", "src/api/users.py", "src/api/"),
        ('- files: "src/**/*.ts"', "src/web/a.ts", "src/**/*.ts"),
        ("`services/*.py` hold no SQL", "app/services/cart.py", "services/*.py"),
        ("`src/{api,web}/**` is typed", "src/web/a.ts", "src/{api,web}/**"),
        ("`retry.py` is generated", "lib/retry.py", "retry.py"),
        ("either/or is no path here", "src/a.py", ""),
        ("see https://example.org/src/api/", "src/api/users.py", ""),
        ("`api` is a word", "src/api/users.py", ""),
        ("Only `src/web/` matters.", "src/api/users.py", ""),
        ("not `src/a.py -> src/web/page.py`", "src/a.py", "src/a.py"),
        ("not `src/a.py -> src/web/page.py`", "src/web/page.py", "src/web/page.py"),
    ],
)
def test_a_text_names_files(text: str, path: str, named: str) -> None:
    assert is_about(text, path) == named


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("`users.py` is generated", 1.0),
        ("`src/api/users.py` is generated", 1.0),
        ("`src/**/*.py` is typed", 1.0),
        ("`src/` holds the code", 1 / 3),
        ("`src/` holds the code, `src/api/` the routes", 2 / 3),
        ("`web/` holds the pages", 0.0),
    ],
)
def test_a_folder_far_above_a_file_names_little_of_it(text: str, depth: float) -> None:
    assert name_depth(text, "src/api/users.py") == depth


def test_rules_that_came_with_others_code_are_foreign() -> None:
    foreign = (
        "vendor/github.com/a/b/CONTRIBUTING.md",
        ".agents/skills/react/AGENTS.md",
        "web/node_modules/x/CLAUDE.md",
        "third_party/zlib/CONTRIBUTING.md",
        ".claude/plugins/review/CLAUDE.md",
    )
    own = (
        "AGENTS.md",
        "skills/AGENTS.md",
        "packages/vendors/AGENTS.md",
        ".claude/CLAUDE.md",
        "docs/adr/0001-skills.md",
    )
    assert all(map(is_foreign, foreign))
    assert not any(map(is_foreign, own))


def test_a_document_of_a_package_governs_the_package() -> None:
    assert governs("packages/api/AGENTS.md", "packages/api/src/a.ts")
    assert not governs("packages/api/AGENTS.md", "packages/web/a.ts")
    assert not governs("AGENTS.md", "packages/web/a.ts"), "the root's rules are for everything: that says nothing"


def test_a_tool_s_rules_govern_the_folder_that_holds_its_own() -> None:
    assert governs("packages/web/.cursor/rules/forms.mdc", "packages/web/a.ts")
    assert governs("packages/web/.claude/rules/forms.md", "packages/web/a.ts")
    assert governs("packages/web/.kiro/steering/forms.md", "packages/web/a.ts")
    assert governs("packages/web/docs/adr/0001-forms.md", "packages/web/a.ts")
    assert not governs(".cursor/rules/forms.mdc", "packages/web/a.ts")
    assert governs(".github/workflows/AGENTS.md", ".github/workflows/ci.yml")
    assert not governs(".github/AGENTS.md", ".github/workflows/ci.yml"), "it is for the project"
    assert not governs("docs/CONTRIBUTING.md", "docs/guide.md")


@pytest.mark.parametrize(
    ("head", "globs"),
    [
        ("description: forms\nglobs: src/**/*.ts, *.tsx\nalwaysApply: false", "src/**/*.ts, *.tsx"),
        ('applyTo: "**/*.py,**/*.pyi"', "**/*.py,**/*.pyi"),
        ('globs:\n  - "a/**"\n  - b/*.ts', "a/**,b/*.ts"),
        ('globs: ["a/**", "b/**"]', "a/**, b/**"),
        ('applyTo: "**"', ""),
        ("globs:", ""),
        ("globs: src/**\nalwaysApply: true", ""),
        ("trigger: always_on\nglobs: src/**", ""),
        ("trigger: glob\nglobs: src/**", "src/**"),
        ("paths:\n  - src/**", "src/**"),
        ("inclusion: fileMatch\nfileMatchPattern: 'src/**'", "src/**"),
        ("alwaysApply: true", ""),
    ],
)
def test_the_head_of_a_tool_s_rules_states_globs(head: str, globs: str) -> None:
    assert stated_globs(f"---\n{head}\n---\n# Forms\n") == globs
    assert stated_globs(f"---\n{head}\n---\n# Forms\n".replace("\n", "\r\n")) == globs
    assert stated_globs(f"# Forms\n\n---\n{head}\n---\n") == ""


def test_a_document_may_begin_with_a_line_instead_of_front_matter() -> None:
    rules = "---\n\n# Money\n\n- Never store money as float.\n\n---\n\nMore.\n"
    assert without_head(rules) == rules
    assert without_head("---\r\nname: money\r\n---\r\n# Money\r\n") == "# Money\r\n"


def test_globs_count_from_the_folder_that_the_rules_are_for() -> None:
    assert in_scope("src/*.ts", "packages/web/.cursor/rules/a.mdc", "packages/web/src/a.ts")
    assert not in_scope("src/*.ts", "packages/web/.cursor/rules/a.mdc", "src/a.ts")


@pytest.mark.parametrize(
    ("rule", "path", "expected"),
    [
        ('- id: "names"\n  file_names: "camelCase"\n  files: ["**/*.ts"]\n', "server/cron_test.go", False),
        ('- id: "names"\n  file_names: "camelCase"\n  files: ["**/*.ts"]\n', "web/src/cron.ts", True),
        ("- id: names\n  files:\n    - src/**\n    - lib/{a,b}.ts\n  message: m\n", "lib/b.ts", True),
        ("- id: names\n  files:\n    - src/**\n    - lib/{a,b}.ts\n  message: m\n", "lib/c.ts", False),
        ('- id: "x"\n  forbid_imports: "xorm"\n  not_files: ["server/store/**"]\n', "server/store/config.go", False),
        ('- id: "x"\n  forbid_imports: "xorm"\n  not_files: ["server/store/**"]\n', "server/api/users.go", True),
        ('- id: "layers-web"\n  layers: ["web/views/**", ["web/store/**", "web/lib/**"]]\n', "server/main.go", False),
        ('- id: "layers-web"\n  layers: ["web/views/**", ["web/store/**", "web/lib/**"]]\n', "web/lib/time.ts", True),
        # A folder that holds some of its files.
        ('- id: "layers-web"\n  layers: ["web/views/**", ["web/store/**", "web/lib/**"]]\n', "web", True),
        ("- id: names\n  files: src/**  # the product\n", "docs/a.md", False),
        ('- id: x\n  files: ["src/**",\n    "lib/**"]\n  message: m\n', "lib/a.ts", True),
        ('- id: x\n  files: ["src/**",\n    "lib/**"]\n  message: m\n', "docs/a.md", False),
        ("- id: x\n  files:\n    - src/**\n\n    # docs/** too\n    - lib/**\n", "lib/a.ts", True),
        ("- id: x\n  files:\n    - src/**\n\n    # docs/** too\n    - lib/**\n", "docs/a.md", False),
        ("- id: x\n  files: &product [lib/**]\n", "docs/a.md", False),
        ("- id: x\n  files: lib/my files/**\n", "lib/my files/a.ts", True),
        ("- id: x\n  not_files: app/[id]/page.tsx  # lib/** is not\n", "app/main.ts", True),
        ("- id: x\n  not_files: app/[id]/page.tsx  # lib/** is not\n", "lib/main.ts", True),
        ("- id: x\n  layers:\n    - web/**\n    - - store/**\n      - lib/**\n", "lib/a.ts", True),
        # A folder that may hold some of its files.
        ('- id: x\n  files: "**/src/*.ts"\n', "web", True),
        ('- id: x\n  files: "packages/*/src/*.ts"\n', "packages/a", True),
        ('- id: x\n  files: "packages/*/src/*.ts"\n', "server", False),
    ],
)
def test_a_rule_of_an_architecture_is_for_the_files_that_its_globs_leave(rule: str, path: str, expected: bool) -> None:
    (stated,) = yaml.safe_load(rule)
    assert may_be_for(stated, path) is expected


def test_the_rules_of_a_package_count_from_its_folder() -> None:
    text = "rules:\n- id: a\n  files: src/**\n  file_names: camelCase\n- id: b\n  no_cycles: true\n"
    assert list(find_rules_for_others(text, "web/ARCHITECTURE.yml", ["web/docs/a.md"])) == ["rules.a"]
    assert not list(find_rules_for_others(text, "web/ARCHITECTURE.yml", ["web/docs/a.md", "web/src/a.ts"]))
    assert not list(find_rules_for_others("rules: [", "ARCHITECTURE.yml", ["a.md"]))
