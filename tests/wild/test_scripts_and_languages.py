"""Scripts without spaces, and other languages: words are found in code, comments and memories, whatever they are written in."""

# ruff: noqa: RUF001

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from tests.wild.project import WildProject

_OTHERS = {f"src/other{number}.py": f"def other{number}():\n    return {number}\n" for number in range(6)}
COMMENTS = {
    "Chinese": ("# 检查用户的密码过期时间，超时则重新登录\n", ["密码过期", "超时", "重新登录", "锁定 密码"]),
    "Chinese, one letter": ("# 先取得锁，再写入\n", ["锁"]),
    "Japanese": (
        "# パスワードの有効期限が切れた場合は再ログインする\n",
        ["有効期限", "パスワード", "ﾊﾟｽﾜｰﾄﾞ", "ログイン"],
    ),
    "Thai": ("# ตรวจสอบรหัสผ่านหมดอายุก่อนเข้าสู่ระบบ\n", ["รหัสผ่าน", "หมดอายุ"]),
    "Lao": ("# ກວດສອບລະຫັດຜ່ານ\n", ["ລະຫັດຜ່ານ"]),
    "Khmer": ("# ពិនិត្យពាក្យសម្ងាត់ផុតកំណត់\n", ["ពាក្យសម្ងាត់"]),
    "Burmese": ("# စကားဝှက်သက်တမ်းကုန်သည်\n", ["စကားဝှက်"]),
    "Korean": ("# 비밀번호가 만료되면 다시 로그인합니다\n", ["비밀번호", "만료", "로그인"]),
    "Hindi": ("# पासवर्ड की अवधि समाप्त हो गई\n", ["पासवर्ड", "अवधि"]),
    "Arabic with vowel points": ("# كَلِمَة المرور منتهية\n", ["كلمة", "المرور"]),
    "Russian": ("# Срок действия пароля истёк\n", ["истек", "пароля"]),
    "Greek": ("# Ο κωδικός έληξε\n", ["ΚΩΔΙΚΟΣ", "εληξε"]),
    "Vietnamese": ("# Mật khẩu đã hết hạn\n", ["mat khau", "Mật khẩu"]),
    "Turkish": ("# İptal edilen şifre\n", ["iptal", "sifre"]),
    "German": ("# Größe der Übergabe prüfen\n", ["Größe", "ubergabe", "prufen"]),
    "full width": ("# ＡＰＩ ｋｅｙ の検証\n", ["api key", "検証"]),
    "decomposed": ("# " + unicodedata.normalize("NFD", "Überprüfung é à") + "\n", ["Überprüfung", "uberprufung"]),
    "a zero width space": ("# รหัส\u200bผ่าน และ re\u00admem\u00adber\n", ["รหัสผ่าน", "remember"]),
    "a name in Cyrillic": ("def ПолучитьДанные():\n    pass\n", ["данные", "ПолучитьДанные"]),
    "a name in Chinese": ("class 用户管理器:\n    pass\n", ["用户管理器", "管理"]),
}


def _recall_beside(others: Iterable[str], content: str, query: str, project: WildProject) -> list[str]:
    """The memories that a question finds, best first, where a memory was stored after others."""
    for each in (*others, content):
        project.ask("store_memory", content=each, scope="project")
    return project.recall(query)


@pytest.mark.parametrize("language", COMMENTS)
def test_a_word_is_found_in_the_file_that_holds_it(client: Client, tmp_path: Path, language: str) -> None:
    text, queries = COMMENTS[language]
    project = WildProject(client, tmp_path / "p", {**_OTHERS, "src/wanted.py": text + "def check():\n    return 1\n"})
    assert {query: project.search(query)[:1] for query in queries} == {query: ["src/wanted.py"] for query in queries}


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("连接数据库超时的话要重试三次", "超时"),
        ("先取得锁，再写入文件", "锁"),
        ("本番環境のデプロイは金曜日にしない", "デプロイ"),
        ("ห้ามดีพลอยในวันศุกร์ตอนเย็น", "วันศุกร์"),
        ("금요일에는 배포하지 않는다", "배포"),
        ("Деплой только до пятницы, счёт проверяет бухгалтерия", "счет"),
        (unicodedata.normalize("NFD", "Die Größe der Übergabe prüft Jürgen"), "Größe"),
        ("ＡＰＩ の鍵は Vault にある", "API の鍵"),
    ],
)
def test_a_word_is_found_in_the_memory_that_holds_it(client: Client, tmp_path: Path, content: str, query: str) -> None:
    others = (
        "使用缓存来保存会话",
        "Rechnungen gehen per Post hinaus",
        "ログはJSONで書く",
        "Tokens expire after an hour",
    )
    assert _recall_beside(others, content, query, WildProject(client, tmp_path / "p", _OTHERS))[:1] == [content]


def test_a_rule_is_found_by_a_word_inside_a_sentence_without_spaces(client: Client, tmp_path: Path) -> None:
    rules = "# 约束\n\n## 支付\n\n- 支付模块绝不能直接访问数据库\n\n## 日志\n\n- 日志必须使用JSON格式\n"
    project = WildProject(client, tmp_path / "p", {**_OTHERS, "CONSTRAINTS.md": rules})
    found = project.ask("rag_check_constraints", change_description="访问数据库")
    assert "支付模块绝不能直接访问数据库" in str(found["constraints"][:1])


_LONG = "testThatTheSubscriptionIsRenewedAutomaticallyWhenThePaymentMethodOfTheCustomer{}"
_WAYS = ("IsExpired", "WasReplacedByAnother", "IsMissingAndTheGracePeriodIsOver", "BelongsToAnotherAccount")


@pytest.mark.parametrize("way", _WAYS)
def test_a_name_of_eighty_characters_and_more_is_found_whole_and_by_its_parts(
    client: Client, tmp_path: Path, way: str
) -> None:
    files = {f"T{each}.java": f"class T{each} {{\n  void {_LONG.format(each)}() {{ run(); }}\n}}\n" for each in _WAYS}
    project = WildProject(client, tmp_path / "p", {**_OTHERS, **files})
    assert project.search(_LONG.format(way))[0] == f"T{way}.java"
    assert len(project.search("subscription renewed automatically")) == len(_WAYS)


def test_a_long_name_in_capitals_is_found(client: Client, tmp_path: Path) -> None:
    name = "ORG_EXAMPLE_PAYMENT_GATEWAY_RETRY_POLICY_MAXIMUM_NUMBER_OF_ATTEMPTS_BEFORE_GIVING_UP_ENTIRELY"
    project = WildProject(client, tmp_path / "p", {**_OTHERS, "deploy/run.sh": f"export {name}=3\n"})
    assert project.search(name)[0] == "deploy/run.sh"
    assert project.search("maximum attempts")[0] == "deploy/run.sh"


def test_that_no_file_holds_a_word_is_not_said_of_files_that_were_not_looked_at(client: Client, tmp_path: Path) -> None:
    files = {**_OTHERS, "data/fixtures.csv": "wombat,burrow\n", "dist/app.min.js": "wombat();\n"}
    project = WildProject(client, tmp_path / "p", files)
    note = project.ask("search_code", query="wombat burrow")["stats"]["note"]
    assert "no indexed file holds these words" in note
    assert "2 files were not looked at (1 data, 1 generated; e.g. data/fixtures.csv)" in note


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("リンゴを食べますか、それとも梨にしますか", "食べ"),
        ("步2 重跑gen-itgc后50条悬空引用清零，修复已验证", "itgc"),
        ("步2 重跑gen-itgc后50条悬空引用清零，修复已验证", "悬空"),
        ("即适者生存，生存等于正确的道理", "适者生存"),
        ("今年做好财务护城河这件事", "财务护城河"),
        ("设备清单(devices) 里有 NAS 和 cdm-xxc", "设备"),
        ("サンドボックス修正テストは火曜日に行う", "サンドボックス"),
        ("私はTropyを愛しています", "Tropy"),
        ("明日は雨が降るので延期する", "雨"),
        ("설명서에는 가나다라 순서로 적는다", "다라"),
    ],
)
def test_a_memory_is_found_that_other_tools_did_not_find(
    client: Client, tmp_path: Path, content: str, query: str
) -> None:
    others = (
        "使用缓存来保存会话",
        "ログはJSONで書く",
        "Tokens expire after an hour",
        "금요일에는 배포하지 않는다",
    )
    assert _recall_beside(others, content, query, WildProject(client, tmp_path / "p", _OTHERS))[:1] == [content]
