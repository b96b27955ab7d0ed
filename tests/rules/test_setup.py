"""What set-up says that it would write."""

from __future__ import annotations

from pathlib import Path

from rag_ls.rules.setup import plan_documents
from tests.rules.survey.surveys import survey_of
from tests.rules.survey.test_documents import APP


def test_each_page_says_how_many_claims_it_holds_with_a_total_and_without(tmp_path: Path) -> None:
    planned = plan_documents(tmp_path, survey_of({"src/app.js": APP}), "shop", force=False, publish=False)
    assert {each.path: each.why for each in planned} == {
        "ARCHITECTURE.yml": "2 claims",
        # What `app.use` registers has no total.
        "docs/patterns/middleware.md": "1 claim",
        "docs/patterns/responses.md": "1 claim",
    }
