"""The documents that are written from a survey."""

from __future__ import annotations

import pytest

from rag_ls.rules.survey.documents import architecture_yaml, pattern_pages, quote_text, write_comment
from tests.rules.survey.surveys import survey_of

yaml = pytest.importorskip("yaml")

APP = """\
const express = require('express');
const app = express();
app.use(cors());
app.use(helmet());
app.use(json());
app.get('/api/users/:id', (req, res) => res.json({ success: true, data: user }));
app.post('/api/users', (req, res) => res.json({ success: true, data: user }));
app.get('/api/things', (req, res) => res.json({ success: true, data: user }));
app.delete('/api/users/:id', (req, res) => res.json({ success: true, data: user }));
"""


def test_architecture_names_every_claim_with_count_and_examples() -> None:
    found = survey_of({"package.json": '{"dependencies": {"express": "4"}}', "src/app.js": APP})
    data = yaml.safe_load(architecture_yaml(found, 'My "shop": #1'))
    assert data["project"] == {"name": 'My "shop": #1', "backend": ".", "files_read": 1}
    assert data["stacks"] == [
        {
            "folder": ".",
            "role": "backend",
            "language": "javascript",
            "manifest": "package.json",
            "frameworks": ["Express"],
        }
    ]
    assert data["middleware"][0] == {
        "claim": "`app.use` registers, among others, `cors`, `helmet`",
        "count": 2,
        "examples": ["src/app.js:3", "src/app.js:4"],
    }
    assert data["responses"] == [
        {
            "claim": "Answers have the keys `data`, `success`",
            "count": 4,
            "of": 4,
            "examples": ["src/app.js:6", "src/app.js:7"],
        }
    ]
    named = {f"src/{name}-page.ts": "x" for name in "abcdef"}
    text = architecture_yaml(survey_of(named), "x", with_pages=True)
    (rule,) = yaml.safe_load(text)["rules"]
    assert (rule["file_names"], rule["see"]) == ("kebab-case", "docs/patterns/naming.md")
    assert "are in kebab-case: 6 of 6 (src/a-page.ts:1, src/b-page.ts:1)" in text
    assert data["endpoints"][-1]["routes"][0] == "GET /api/users/:id"
    assert "layers" not in data
    assert "events" not in data


def test_a_project_without_patterns_has_no_empty_keys() -> None:
    text = architecture_yaml(survey_of({}), "x")
    assert yaml.safe_load(text) == {"project": {"name": "x", "files_read": 0}}
    assert "rules:" in text
    assert "docs/rules.md" in text
    assert pattern_pages(survey_of({})) == {}


def test_past_fifty_endpoints_only_their_number_is_said() -> None:
    text = "const app = express();\n" + "".join(f"app.get('/r{index}', h);\n" for index in range(60))
    written = architecture_yaml(survey_of({"a.js": text}), "x")
    assert "# and 10 more" in written
    entry = yaml.safe_load(written)["endpoints"][-1]
    assert (entry["count"], len(entry["routes"])) == (60, 50)


@pytest.mark.parametrize(
    "text",
    [
        "a: b # c", "'", '"', "\\", "- x", "@/", "yes", "1.0", "null", "", "tab\there", "line\nbreak", "é 漢 😀",
        "\x85\u2028\ufeff\x7f", "{a}: [b]", "%x", "!t", "&a *b",
    ],
)  # fmt: skip
def test_every_text_survives_yaml(text: str) -> None:
    assert yaml.safe_load(f"key: {quote_text(text)}") == {"key": text}


def test_a_comment_stays_on_its_line() -> None:
    assert write_comment("a\nrules: b") == "# a rules: b"


def test_pattern_pages_show_the_code_of_the_first_example() -> None:
    documents = pattern_pages(survey_of({"src/app.js": APP}))
    assert set(documents) == {f"docs/patterns/{name}.md" for name in ("middleware", "responses")}
    middleware = documents["docs/patterns/middleware.md"][0]
    assert middleware.startswith("# Middleware\n\nrag-ls counted this in 1 source file of")
    assert (
        "- `app.use` registers, among others, `cors`, `helmet`: found 2 times (`src/app.js:3`, `src/app.js:4`)."
        in middleware
    )
    assert "```javascript\napp.use(cors());\napp.use(helmet());" in middleware


def test_two_events_are_no_pattern() -> None:
    few = survey_of({"src/live.js": "import 'socket.io';\nsocket.on('a', f);\nsocket.emit('a');\n"})
    assert "events" not in yaml.safe_load(architecture_yaml(few, "x"))


def test_a_fence_in_the_code_does_not_end_the_excerpt() -> None:
    text = "const app = express();\n" + "".join(f"app.use(guard); // ```{at}\n" for at in "abc")
    document = pattern_pages(survey_of({"a.js": text}))["docs/patterns/middleware.md"][0]
    assert "````javascript\n" in document


def test_two_things_on_a_line_are_one_example() -> None:
    text = "const app = express();\napp.route('/x').get(a).post(b).put(c);\n"
    entry = yaml.safe_load(architecture_yaml(survey_of({"a.js": text}), "x"))["endpoints"][0]
    assert (entry["count"], entry["examples"]) == (3, ["a.js:2"])
