"""Files as other people have them: any encoding, name, suffix and content."""

# ruff: noqa: RUF001

from __future__ import annotations

import contextlib
import os
import unicodedata
from pathlib import Path
from typing import Literal

import pytest

from rag_ls.cli import render
from rag_ls.engine.client import Client
from rag_ls.lsp.documents import DEFAULT_SPELLING, file_path, place_of
from tests.support import trust
from tests.wild.project import WildProject

_CODE = "def check_{}(user):\n    # {}\n    return user.is_locked\n\n\n"
_COMMENTS = {
    "latin-1": "Größe der Übergabe prüfen für Müller",
    "cp1252": "clé du dépôt déjà vérifiée – où est l’œuvre",
    "cp1250": "sprawdź hasło użytkownika i błąd połączenia",
    "cp1251": "срок действия пароля уже истек",
    "cp1253": "ο κωδικός του χρήστη έληξε",
    "cp1256": "انتهت صلاحية كلمة المرور",
    "koi8-r": "подключение к базе данных потеряно",
    "gbk": "检查用户的密码过期时间",
    "big5": "檢查使用者的密碼是否過期",
    "cp932": "パスワードの有効期限が切れた場合",
    "euc-jp": "パスワードの有効期限が切れた場合",
    "cp949": "비밀번호가 만료되면 다시 로그인",
    "iso2022_jp": "パスワードの有効期限が切れた場合",
    "utf-16": "Größe prüfen 密码",
    "utf-8-sig": "Größe prüfen 密码",
    "utf-32": "Größe prüfen 密码",
}


@pytest.mark.parametrize("encoding", _COMMENTS)
def test_a_file_in_any_encoding_is_found_by_its_words_and_read_as_it_is(
    client: Client, tmp_path: Path, encoding: str
) -> None:
    comment = _COMMENTS[encoding]
    text = "".join(_CODE.format(number, comment) for number in range(3))
    project = WildProject(client, tmp_path / "p", {"src/old.py": text.encode(encoding), "src/new.py": "x = 1\n"})
    (hit,) = (hit for hit in project.ask("search_code", query=comment)["results"] if hit["path"] == "src/old.py")
    assert (hit["freshness"], comment in hit["text"]) == ("disk", True)
    assert text.rstrip() in project.ask("get_chunk", id=hit["id"], context="file")["text"]
    assert {each["symbol"] for each in project.ask("list_symbols", path="src/old.py")["symbols"]} >= {"check_2"}
    assert project.ask("index_status")["projects"][0]["skipped"] == {}
    # What the file holds now is compared in the same encoding.
    (project.root / "src/old.py").write_bytes((text + "y = 1\n").encode(encoding))
    project.index()
    assert project.ask("search_code", query=comment)["results"][0]["freshness"] == "disk"


@pytest.mark.slow
def test_one_bad_byte_costs_that_byte(client: Client, tmp_path: Path) -> None:
    lines = [f"# Prüfung {number}: 密码\nvalue_{number} = {number}\n".encode() for number in range(300)]
    lines[150] = b"# caf\xe9 torn\nvalue_150 = 150\n"
    project = WildProject(client, tmp_path / "p", {"src/a.py": b"".join(lines)})
    hit = project.ask("search_code", query="value_150 torn")["results"][0]
    assert "# caf\ufffd torn\n" in project.ask("get_chunk", id=hit["id"], context="file")["text"]
    assert project.search("value_299", k=1) == ["src/a.py"]


@pytest.mark.slow
def test_files_that_other_indexers_left_out_in_silence_are_found(client: Client, tmp_path: Path) -> None:
    csharp = "namespace Shop;\n\npublic class LegacyCart\n{\n    public int Total() => 1;\n}\n"
    files = {
        "one_byte.cpp": b"// by M. W\xfcrkner\nint wombat_total(int x) { return x; }\n",
        "Marked.cs": csharp.replace("Legacy", "Marked").encode("utf-16"),
        "Unmarked.cs": csharp.encode("utf-16-le"),
        "book.txt": "Глава первая. " + "Очень длинная строка о вомбате. " * 400,
        "russian.erb": "---\ntitle: x\n---\nРусский текст\n".encode("cp1251"),
    }
    project = WildProject(client, tmp_path / "p", files)
    wanted = {
        "wombat_total": "one_byte.cpp", "MarkedCart": "Marked.cs", "LegacyCart": "Unmarked.cs", "вомбате": "book.txt",
        "Русский текст": "russian.erb",
    }  # fmt: skip
    assert {query: project.search(query)[:1] for query in wanted} == {query: [path] for query, path in wanted.items()}
    assert project.ask("index_status")["projects"][0]["skipped"] == {}


def test_a_byte_order_mark_is_no_column(client: Client, tmp_path: Path) -> None:
    project = WildProject(client, tmp_path / "p", {"a.py": "\ufeffimport wombat\nimport wombat\n"})
    for query, match in (("import wombat", "exact"), ("^import wombat", "regex")):
        places = project.ask("search_code", query=query, match=match)["exact"]["places"]
        assert [(place["line"], place["column"], place["text"]) for place in places] == [
            (1, 1, "import wombat"),
            (2, 1, "import wombat"),
        ]
    assert project.ask("search_code", query=r"\ufeff", match="regex")["exact"]["total"] == 1


def test_a_byte_order_mark_within_a_file_is_a_character(client: Client, tmp_path: Path) -> None:
    project = WildProject(client, tmp_path / "p", {"a.txt": "\ufeffimport wombat\n" * 300})
    places = project.ask("search_code", query="import wombat", match="exact", limit=300)["exact"]["places"]
    assert {place["column"] for place in places if place["line"] > 1} == {2}


def test_a_file_says_its_encoding_itself(client: Client, tmp_path: Path) -> None:
    word = "тест"
    files = {
        "a.py": f"# -*- coding: koi8-r -*-\nx = '{word}'\n".encode("koi8-r"),
        "b.html": f'<meta charset="cp866"><p>{word}</p>\n'.encode("cp866"),
        "c.xml": f'<?xml version="1.0" encoding="iso-8859-5"?><p>{word}</p>\n'.encode("iso-8859-5"),
    }
    project = WildProject(client, tmp_path / "p", files)
    assert sorted(project.search(word)) == sorted(files)


def test_the_settings_name_an_encoding_that_nobody_can_see(client: Client, tmp_path: Path) -> None:
    files = {
        "rag-ls.toml": '[index.encodings]\n"old/**" = "mac_cyrillic"\n',
        "old/a.py": "# тест\n".encode("mac_cyrillic"),
    }
    project = WildProject(client, tmp_path / "p", files)
    assert project.search("тест") == ["old/a.py"]


def test_what_is_in_no_encoding_is_named_with_the_setting_that_helps(client: Client, tmp_path: Path) -> None:
    project = WildProject(client, tmp_path / "p", {"odd.txt": bytes(range(128, 256)), "src/a.py": "x = 1\n"})
    named = project.ask("index_status", skipped=True)["projects"][0]["skipped_files"]
    assert named == [{"path": "odd.txt", "reason": "unknown encoding (name it in index.encodings)"}]


def test_an_editor_that_shows_an_old_file_changes_nothing(client: Client, tmp_path: Path) -> None:
    text = "# Größe prüfen\nx = 1\n"
    project = WildProject(client, tmp_path / "p", {"a.py": text.encode("cp1252")})
    assert project.session.project.documents.equals_file("a.py", text)
    assert not project.session.project.documents.equals_file("a.py", text + "y")


def test_an_own_suffix_has_the_language_that_the_settings_name(client: Client, tmp_path: Path) -> None:
    files = {
        "rag-ls.toml": '[languages.map]\n"*.inc" = "php"\n"tools/*" = "python"\n',
        "lib/cart.inc": "<?php\nfunction total_price($items) {\n    return array_sum($items);\n}\n",
        "tools/deploy": "def deploy_all(host):\n    return host\n",
    }
    project = WildProject(client, tmp_path / "p", files)
    found = {hit["path"]: hit for hit in project.ask("search_code", query="total_price deploy_all")["results"]}
    assert (found["lib/cart.inc"]["language"], found["lib/cart.inc"]["symbol"]) == ("php", "total_price")
    assert (found["tools/deploy"]["language"], found["tools/deploy"]["symbol"]) == ("python", "deploy_all")


def test_a_language_means_its_family_in_settings_and_lists_of_memories(client: Client, tmp_path: Path) -> None:
    files = {
        "rag-ls.toml": '[languages]\nenabled = ["typescript", "cpp"]\n',
        "page.tsx": "export function page() { return <b/>; }\n", "cart.vue": "<script>\nlet a = 1\n</script>\n",
        "cart.h": "struct cart { int items; };\n", "cart.c": "int items;\n", "cart.py": "items = 1\n",
    }  # fmt: skip
    project = WildProject(client, tmp_path / "p", files)
    assert {row[1] for row in project.session.store.document_paths()} == {"page.tsx", "cart.vue", "cart.h"}
    for language in ("tsx", "c"):
        project.ask(
            "store_memory", content=f"Pages of {language} are small.", scope="project", metadata={"language": language}
        )
    for wanted, total in (("TypeScript", 1), ("tsx", 1), ("cpp", 0), ("c", 1)):
        assert project.ask("list_memories", filters={"language": wanted})["total"] == total


def test_a_language_that_nobody_knows_is_named_with_those_that_may_be_meant(client: Client, tmp_path: Path) -> None:
    files = {
        "rag-ls.toml": '[languages]\nmap = {"*.inc" = "phpp", "*.tpl" = "html"}\n',
        "a.inc": "<?php\nfunction f() {}\n",
    }
    project = WildProject(client, tmp_path / "p", files)
    note = project.ask("index_status")["projects"][0]["note"]
    assert "languages.map names phpp, of which no grammar is known" in note
    assert "the nearest are php" in note


def test_what_looks_like_data_is_indexed_where_the_user_says_so(client: Client, tmp_path: Path) -> None:
    files = {
        "rag-ls.toml": '[index]\nforce = ["prices.csv", "*.bundle.js", "*_pb2.py", "src/torn.py"]\n',
        "prices.csv": "wombat,12\n",
        "other.csv": "wombat,13\n",
        "src/app.bundle.js": "function wombat() { return 1; }\n",
        "gen/api_pb2.py": "wombat = 1\n",
        "keys.pem": "wombat\n",
        "src/torn.py": b"def wombat():\n    return 'a\x00b\xff'\n",
    }
    root = tmp_path / "p"
    root.mkdir()
    trust(root)
    project = WildProject(client, root, files)
    assert set(project.search("wombat")) == {"prices.csv", "src/app.bundle.js", "gen/api_pb2.py", "src/torn.py"}
    assert [each["symbol"] for each in project.ask("list_symbols", path="src/torn.py")["symbols"]] == ["wombat"]


def test_a_bundle_is_left_out_by_its_content(client: Client, tmp_path: Path) -> None:
    license_text = "/*!\n * Widgets v1.2\n * (c) Somebody, MIT licence\n */\n"
    line = "!function(e,t){var n=e.paginate||{};for(var r=0;r<t.length;r++)n[t[r]]=function(i){return i?e(i):t}}(window,[]);"
    bundle = license_text + "".join(f"{line * 4}\n" for _ in range(40))
    files = {"static/site.js": bundle, "src/paginate.js": "export function paginate(items) {\n  return items;\n}\n"}
    project = WildProject(client, tmp_path / "p", files)
    assert project.search("paginate") == ["src/paginate.js"]
    assert project.ask("index_status")["projects"][0]["skipped"] == {"minified": 1}


NAMES = (
    "note:one.py", "2026-01-01T10:00/s.py", "git:a.py", "100%.py", "%41.py", "a#b.py", "[id]/page.py", "sp ace.py", 'quo"te.py',
    "it's.py", "back\\slash.py", "question?.py", "star*.py", "-dash.py", "~tilde.py", "new\nline.py", "tab\there.py", "x" * 252 + ".py",
    "ü" * 126 + ".py", "日本語/検索.py", "a\u202eb.py", "…/c.py",
)  # fmt: skip


@pytest.mark.slow
def test_a_file_may_have_any_name(client: Client, tmp_path: Path) -> None:
    symbols = {name: f"wombat{number:02d}" for number, name in enumerate(NAMES)}
    files = {name: f"def {symbol}():\n    return 1\n" for name, symbol in symbols.items()}
    project = WildProject(client, tmp_path / "p", files)
    for name, symbol in symbols.items():
        hit = project.ask("search_code", query=symbol)["results"][0]
        file = project.root / name
        assert (hit["path"], hit["file"], hit["freshness"]) == (name, str(file), "disk")
        assert symbol in project.ask("get_chunk", id=hit["id"])["text"]
        assert project.ask("list_symbols", path=name)["symbols"][0]["symbol"] == symbol
        # Editors get the address of the file, and give it back.
        uri = DEFAULT_SPELLING.uri_of(project.session, name)
        assert uri.startswith("file:///")
        place = place_of(uri, client)
        assert place is not None
        assert (file_path(uri), place.path, place.guest) == (file, name, False)
        # The shell prints one line, with a link that terminals open.
        printed = render.render_hit(hit)
        assert len(printed.splitlines()) == 3, printed
        stored = project.ask(
            "store_memory", content=f"{symbol} is odd but wanted", scope="project", metadata={"source_file": name}
        )
        assert project.ask("get_memory", id=stored["id"])["anchor"]["state"] == "fresh"


def test_a_project_whose_path_is_longer_than_sqlite_opens_is_indexed_elsewhere(client: Client, tmp_path: Path) -> None:
    root = tmp_path.joinpath("d" * 200, "e" * 200, "a b\nc")
    project = WildProject(client, root, {"cart.py": "def count_wombats():\n    return 1\n"})
    assert project.search("count wombats") == ["cart.py"]
    assert project.ask("index_status")["complete"]
    assert not list((root / ".rag-ls").glob("*.db"))


def test_a_name_that_is_no_text_is_named_as_what_was_left_out(client: Client, tmp_path: Path) -> None:
    root = tmp_path / "p"
    root.mkdir()
    with contextlib.suppress(OSError):
        (root / os.fsdecode(b"bad\xff.py")).write_text("wombat = 1\n")
    if not list(root.iterdir()):
        pytest.skip("this file system allows no such names")
    project = WildProject(client, root, {"src/a.py": "x = 1\n"})
    assert (
        project.ask("index_status", skipped=True)["projects"][0]["skipped_files"][0]["reason"]
        == "name not UTF-8 (rename it)"
    )
    assert "1 name not UTF-8" in project.ask("search_code", query="wombat")["stats"]["note"]


@pytest.mark.parametrize(("stored", "typed"), [("NFD", "NFC"), ("NFC", "NFD")])
@pytest.mark.parametrize("name", ["höhe", "한국어"])
def test_composed_and_decomposed_names_are_the_same_in_every_look_up(
    client: Client, tmp_path: Path, stored: Literal["NFC", "NFD"], typed: Literal["NFC", "NFD"], name: str
) -> None:
    there, asked = unicodedata.normalize(stored, name), unicodedata.normalize(typed, name)
    assert there != asked
    path = f"src {there}/{there}.py"
    source = f"def {there}():\n    # {there} prüfen\n    return 1\n"
    project = WildProject(client, tmp_path / "p", {path: source, "src/other.py": "x = 1\n"})
    project.ask(
        "store_memory", content=f"{there} is decided by the customer", scope="project", metadata={"tags": [there]}
    )
    # By words, by name, by path, by a filter on paths.
    assert project.search(asked)[:1] == [path]
    assert project.search(asked, path_glob=f"**/{asked}.py")[:1] == [path]
    assert len(project.ask("list_symbols", path=f"src {asked}/{asked}.py")["symbols"]) == 1
    assert project.ask("find_related", symbol=asked)["results"] is not None
    # Memories: by words, by tag, by the file that they are about.
    assert len(project.recall(asked)) == 1
    assert len(project.ask("list_memories", tags=[asked])["memories"]) == 1
    assert len(project.ask("list_memories", tags=[asked.upper()])["memories"]) == 1
    place = {"source_file": f"src {asked}/{asked}.py", "symbol": asked}
    memory = project.ask("store_memory", content="it is what the invoice says", scope="project", metadata=place)
    assert project.ask("get_memory", id=memory["id"])["anchor"]["state"] == "fresh"
    # What was stored is as it was.
    assert project.ask("list_memories", tags=[asked])["memories"][0]["metadata"]["tags"] == [there]
    hit = project.ask("search_code", query=asked)["results"][0]
    assert source.rstrip() in project.ask("get_chunk", id=hit["id"], context="file")["text"]
