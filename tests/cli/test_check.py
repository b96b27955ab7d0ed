"""`rag-ls check` in a checkout that nobody indexed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.commands import RAG_LS
from tests.daemon.engines import run
from tests.support import engine_pid, git, write

RULES = """rules:
  - {id: no-print, language: python, forbid: print($$$), message: NEVER print, see: docs/patterns/log.md}
  - {id: later, language: python, forbid: TODO, severity: warning}
"""
FILES = {"ARCHITECTURE.yml": RULES, "src/a.py": "print('é')\n", "src/b.py": "x = TODO\n", "lib/c.py": "y = 1\n"}


def _repository(root: Path) -> Path:
    write(root, FILES)
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    return root


@pytest.mark.slow
def test_errors_fail_and_warnings_do_not(tmp_path: Path) -> None:
    root = _repository(tmp_path)
    done = run("check", folder=root)
    assert done.returncode == 1
    assert "src/a.py:1:1  error  no-print  NEVER print  (see docs/patterns/log.md)" in done.stdout
    assert "src/b.py:1:5  warning  later" in done.stdout
    assert run("check", "src/b.py", "lib", folder=root).returncode == 0
    assert not (root / ".rag-ls").exists(), "checking makes nothing"
    assert engine_pid() is None, "and starts nothing"


@pytest.mark.slow
def test_json_and_sarif(tmp_path: Path) -> None:
    root = _repository(tmp_path)
    found = json.loads(run("check", "--json", folder=root).stdout)
    assert [(each["rule"], each["path"], each["line"], each["end_column"]) for each in found["violations"]] == [
        ("no-print", "src/a.py", 1, 11),
        ("later", "src/b.py", 1, 9),
    ]
    log = json.loads(run("check", "--format", "sarif", folder=root).stdout)
    (result, _) = log["runs"][0]["results"]
    assert (log["version"], result["ruleId"], result["level"]) == ("2.1.0", "no-print", "error")
    assert result["locations"][0]["physicalLocation"]["region"] == {
        "startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 11,
    }  # fmt: skip


@pytest.mark.slow
def test_only_what_changed_since_a_revision(tmp_path: Path) -> None:
    root = _repository(tmp_path)
    assert run("check", "--changed", "HEAD", folder=root).returncode == 0
    write(root, {"lib/new.py": "print(2)\n"})
    done = run("check", "--changed", "HEAD", folder=root)
    assert (done.returncode, "lib/new.py" in done.stdout, "src/a.py" in done.stdout) == (1, True, False)
    wrong = run("check", "--changed", "no-such-revision", folder=root)
    assert (wrong.returncode, "no-such-revision" in wrong.stderr) == (2, True)


def test_the_exceptions_that_rules_list_are_counted(tmp_path: Path) -> None:
    rules = "rules:\n  - {id: no-print, language: python, forbid: print($$$), severity: info, exceptions: [src/a.py, src/old/**]}\n"
    write(tmp_path, {**FILES, "ARCHITECTURE.yml": rules})
    said = run("check", folder=tmp_path).stderr
    assert "against 1 rule: nothing breaks a rule; without 2 known exceptions that the rules list" in said
    assert json.loads(run("check", "--json", folder=tmp_path).stdout)["exceptions"] == 2


def test_a_wrong_rule_fails_and_names_its_line(tmp_path: Path) -> None:
    root = _repository(tmp_path)
    write(root, {"ARCHITECTURE.yml": "rules:\n  - {id: x, nonsense: 1}\n"})
    done = run("check", folder=root)
    assert (done.returncode, "ARCHITECTURE.yml:2" in done.stdout) == (1, True)


def test_a_file_of_rules_that_is_no_yaml_is_said_to_have_checked_nothing(tmp_path: Path) -> None:
    write(tmp_path, {**FILES, "ARCHITECTURE.yml": "rules: [\n"})
    done = run("check", folder=tmp_path)
    assert done.returncode == 1
    assert "nothing was checked: 1 rule or file of rules cannot be read" in done.stdout + done.stderr


def test_without_rules_it_says_how_to_state_them(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "print(1)\n", ".git/HEAD": "ref: refs/heads/main\n"})
    done = run("check", folder=tmp_path)
    assert (done.returncode, "docs/rules.md" in done.stderr) == (0, True)
    assert run("check", "no/such", folder=tmp_path).returncode == 2


@pytest.mark.slow
def test_of_a_rule_that_matches_everything_a_hundred_places_are_shown_and_all_are_counted(tmp_path: Path) -> None:
    everything = "rules:\n  - {id: all, language: python, rule: {kind: integer}}\n  - {id: b, file_names: PascalCase}\n"
    write(tmp_path, {"ARCHITECTURE.yml": everything} | {f"m{at}.py": "x = 1\n" * 50 for at in range(10)})
    (tmp_path / ".rag-ls").mkdir()
    done = run("check", folder=tmp_path)
    assert done.stdout.count("  error  all  ") == 100
    assert "all  400 more places; --json lists all" in done.stdout
    assert "m0.py:1:1  error  b" in done.stdout, "no rule hides another"
    assert "510 errors" in done.stderr
    assert len(json.loads(run("check", "--json", folder=tmp_path).stdout)["violations"]) == 510


@pytest.mark.slow
def test_ten_thousand_places_in_one_file_are_counted(tmp_path: Path) -> None:
    everything = "rules:\n  - {id: all, language: python, rule: {kind: integer}}\n"
    write(tmp_path, {"ARCHITECTURE.yml": everything, "m.py": "x = 1\n" * 10_000})
    (tmp_path / ".rag-ls").mkdir()
    done = run("check", folder=tmp_path)
    assert done.stdout.count("  error  all  ") == 100
    assert "all  9,900 more places" in done.stdout
    assert "10,000 errors" in done.stderr


@pytest.mark.slow
def test_a_diff_in_bytes_that_breaks_a_rule_fails_under_the_user_s_settings_of_git(tmp_path: Path) -> None:
    root = _repository(tmp_path / "shop")
    (root / "src/b.py").write_bytes(b"x = 1\r\nprint('\xe9')\r\n")
    (root / "src/new.py").write_bytes(b"y = 1\n")
    git(root, "config", "diff.noprefix", "true")
    diff = subprocess.run(["git", "diff"], cwd=root, capture_output=True, check=True).stdout
    command = [RAG_LS, "rules", "check", "--diff", "-"]
    done = subprocess.run(command, input=diff, cwd=root, capture_output=True, check=False)
    assert (done.returncode, b"src/b.py:2  error  no-print" in done.stdout) == (1, True), done.stderr
    gone = subprocess.run(command, input=diff.replace(b"src/b", b"lib/b"), cwd=root, capture_output=True, check=False)
    assert (gone.returncode, b"lib/b.py of the diff is not in" in gone.stderr) == (2, True), gone.stderr


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("{id: typo, language: python, files: scr/**, forbid: eval($A)}", "scr/** matches no file of the project"),
        ("{id: typo, language: rust, forbid: eval($A)}", "no file that typo is for is in rust"),
        (
            "{id: typo, language: python, files: lib/*.py, not_files: '**/c.py', forbid: eval($A)}",
            "lib/*.py matches no",
        ),
        ("{id: typo, forbid_imports: os, files: ['*.go']}", "*.go matches no file"),
    ],
)
def test_a_rule_that_is_for_no_file_is_named_and_no_pass(tmp_path: Path, rule: str, said: str) -> None:
    rules = f"rules:\n  - {rule}\n  - {{id: fine, language: python, forbid: nothing_like_this}}\n"
    write(tmp_path, {**FILES, "ARCHITECTURE.yml": rules, ".git/HEAD": ""})
    done = run("check", folder=tmp_path)
    assert (done.returncode, said in done.stdout) == (2, True), done.stdout
    write(tmp_path, {"ARCHITECTURE.yml": rules.replace("{id: typo", "{severity: warning, id: typo")})
    assert run("check", folder=tmp_path).returncode == 0, "only errors fail"


def test_what_a_check_does_not_look_at_is_said(tmp_path: Path) -> None:
    rules = "rules:\n  - {id: no-b, forbid_imports: src/b.js, files: src/**}\n"
    code = "import b from '#lib/b'\nimport c from './gone'\nimport logo from './logo.svg'\nimport react from 'react'\n"
    write(tmp_path, {"ARCHITECTURE.yml": rules, "src/a.js": code, "src/b.js": "", "src/logo.svg": "<svg/>"})
    write(tmp_path, {".gitignore": "src/made.js\n", "src/made.js": "import './b'\n", ".git/HEAD": "", "x.txt": "x\n"})
    done = run("check", folder=tmp_path)
    assert done.returncode == 0
    said = (
        "2 imports could not be followed, and rules on imports do not see where they lead: #lib/b (src/a.js:1), ./gone"
    )
    assert said in done.stderr
    ignored = run("check", "src/made.js", folder=tmp_path)
    assert (ignored.returncode, "not checked" in ignored.stderr, "nothing was" in ignored.stderr) == (2, True, True)
    other = run("check", "x.txt", folder=tmp_path)
    assert (other.returncode, "nothing was checked: no rule is for these files" in other.stderr) == (0, True)


def test_what_is_staged_with_another_text_than_on_disk_is_named(tmp_path: Path) -> None:
    root = _repository(tmp_path)
    write(root, {"lib/c.py": "print('staged')\n", "src/b.py": "x = 1\n"})
    git(root, "add", ".")
    write(root, {"lib/c.py": FILES["lib/c.py"]})
    done = run("check", "--changed", "HEAD", "lib", folder=root)
    assert "nothing differs from HEAD" in done.stderr
    assert "staged with another text: lib/c.py; `git diff --cached" in done.stderr
