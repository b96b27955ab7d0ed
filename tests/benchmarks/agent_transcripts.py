"""Eight tasks of an agent on fifteen repositories, as transcripts: each call, its tokens, and the line that answers.

`python -m tests.benchmarks.agent_transcripts lobsters=CHECKOUT hexpm=CHECKOUT` copies the checkouts, indexes them, and prints the table;
with `RAG_LS_EMBEDDING_MODEL=none` by words alone.
A task is solved by the first answer that holds its evidence; calls to tools that this version lacks count as well.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from rag_ls.operations.code.budget import count_tokens
from tests.e2e.clients import RAG_LS, Agent, agent, eventually

Call = tuple[str, dict[str, Any]]
_RULE = "# Constraints\n\n- Never log the value of a cookie or header: log its name alone.\n"
_DECISION = "Limits are given in bytes everywhere, since proxies count bytes too; decided with operations in March."
_EVIDENCE_SHOWN = 100
PLACE = "$place"
"""Stands for the best place of the answer before, as `PATH:LINE`."""


class Step(NamedTuple):
    """A task: what is to be learned, what shows that it was, and the calls until it is."""

    goal: str
    evidence: str
    calls: Sequence[Call]


def _search(query: str, **more: Any) -> Call:
    return "search_code", {"query": query, **more}


_SHARED = (
    Step("what was decided", "count bytes too", [("search_memory", {"query": "in which unit are limits given"})]),
    Step("plan with rules", "log its name alone", [
        ("rag_check_constraints", {"change_description": "log cookies of refused requests"})]),
)  # fmt: skip
TASKS = {
    "tornado": (
        Step("where to change a header", r"\"Server\": \"TornadoServer", [_search("where is the Server header of a response set")]),
        Step("who calls", r"1836\b|web\.py:1836|_execute", [
            ("find_references", {"symbol": "check_xsrf_cookie", "show": "callers"})]),
        Step("which tests", r"locale_test\.py", [("related_tests", {"path": "tornado/locale.py"})]),
        *_SHARED,
        Step("usages", r"simple_httpclient_test\.py", [("find_references", {"symbol": "SimpleAsyncHTTPClient"})]),
        Step("regex", r"raise HTTPError\(40[34]", [_search(r"raise HTTPError\(4\d\d", match="regex")]),
        Step("read a whole function", r"307\t        return True", [
            _search("HTTP1Connection._read_message", k=1), ("get_chunk", {"id": PLACE, "context": "declaration"})]),
    ),
    "fastify": (
        Step("where to change a header", r"\['content-length'\] = '' \+ Buffer", [
            _search("where is the content-length header of a reply set")]),
        Step("who calls", r"lib/(error-handler|reply|wrap-thenable|handle-request)\.js", [
            ("find_references", {"symbol": "handleError", "show": "callers"})]),
        Step("which tests", r"test/(content-parser|custom-parser)", [("related_tests", {"path": "lib/content-type-parser.js"})]),
        *_SHARED,
        Step("usages", r"lib/reply\.js", [("find_references", {"symbol": "wrapThenable"})]),
        Step("regex", r"new FST_ERR_\w+\(", [_search(r"throw new FST_ERR_\w+\(", match="regex")]),
        Step("read a whole function", r"FST_ERR_FAILED_ERROR_SERIALIZATION[\s\S]*isBuffer\(payload\)", [
            _search("fallbackErrorHandler", k=1), ("get_chunk", {"id": PLACE, "context": "declaration"})]),
    ),
    "lobsters": (
        Step("where to change a header", r"response\.headers\[\"Expires\"\]", [
            _search("where is the Expires header of an image response set")]),
        Step("who calls", r"app/models/story\.rb\D+(559|732|1159)", [
            ("find_references", {"symbol": "Story#calculated_hotness", "show": "callers"})]),
        Step("which tests", r"spec/models/story_spec\.rb", [("related_tests", {"path": "app/models/story.rb"})]),
        *_SHARED,
        Step("usages", r"_listdetail\.html\.erb", [("find_references", {"symbol": "can_be_seen_by_user?"})]),
        Step("regex", r"story_finder\.rb:23", [_search(r"raise ActiveRecord::\w+", match="regex")]),
        Step("read a whole function", r"HOTNESS_WINDOW\)\)\.round\(7\)", [
            _search("Story.calculated_hotness", k=1), ("get_chunk", {"id": PLACE, "context": "declaration"})]),
    ),
    "hexpm": (
        Step("where to change a header", r"put_resp_header\(conn, \"etag\"", [
            _search("where is the etag header of a response set")]),
        Step("who calls", r"(?s)(?=.*auth\.ex\D+28)(?=.*account_deletion_request\.ex\D+23)(?=.*password_reset\.ex\D+21).*email\.ex\D+56", [
            ("find_references", {"symbol": "Hexpm.Utils.secure_check", "show": "callers"})]),
        Step("which tests", r"test/hexpm/accounts/keys_test\.exs", [("related_tests", {"path": "lib/hexpm/accounts/keys.ex"})]),
        *_SHARED,
        Step("usages", r"(?s)(?=.*advisories\.html\.heex\D+50).*versions\.html\.heex\D+97", [
            ("find_references", {"symbol": "pretty_datetime"})]),
        Step("regex", r"(?s)(?=.*package_report_live\.ex\D+44).*preview_live\.ex\D+81", [_search(r"raise \w*NotFound\w*", match="regex")]),
        Step("read a whole function", r"(?s)def resend_verify_email.*:already_verified.*Mailer\.deliver!", [
            _search("Users.resend_verify_email", k=1), ("get_chunk", {"id": PLACE, "context": "declaration"})]),
    ),
    "gogs": (
        Step("where to change a header", r"\"X-Gogs-Signature\", t\.Signature", [
            _search("where is the signature header of a webhook delivery set")]),
        Step("who calls", r"(?s)(?=.*profile\.go\D+125)(?=.*repo/repo\.go\D+269).*branch\.go\D+112", [
            ("find_references", {"symbol": "IsSameSite", "show": "callers"})]),
        Step("which tests", r"internal/cryptox/aes_test\.go", [("related_tests", {"path": "internal/cryptox/aes.go"})]),
        *_SHARED,
        Step("usages", r"(?s)(?=.*markdown\.go\D+71)(?=.*release/list\.tmpl\D+31).*diff/page\.tmpl\D+33", [
            ("find_references", {"symbol": "ShortSHA1"})]),
        Step("regex", r"(?s)(?=.*database/database\.go\D+95)(?=.*repo_contents\.go\D+94).*repo_tree\.go\D+69", [
            _search(r"panic\(\"unreach\w+\"\)", match="regex")]),
        Step("read a whole function", r"(?s)func \(t \*HookTask\) deliver.*IsBlockedLocalHostname.*787\t}", [
            _search("HookTask.deliver", k=1), ("get_chunk", {"id": PLACE, "context": "declaration"})]),
    ),
    "firefly": (
        Step("where to change a header", r"header\('Content-Security-Policy', implode", [
            _search("where is the Content-Security-Policy header of a response set")]),
        Step("who calls", r"(?s)PeriodOverview\.php\D+102.*131.*187.*239.*262", [
            ("find_references", {"symbol": "Navigation.blockPeriods", "show": "callers"})]),
        Step("which tests", r"Calendar/CalculatorTest\.php", [("related_tests", {"path": "app/Support/Calendar/Calculator.php"})]),
        *_SHARED,
        Step("usages", r"(?s)(?=.*ExpenseReportController\.php\D+86).*NavigationPreferredEndOfPeriodTest\.php\D+52", [
            ("find_references", {"symbol": "preferredEndOfPeriod"})]),
        Step("regex", r"(?s)(?=.*IsAllowedGroupAction\.php\D+60)(?=.*ValidatesUserGroupTrait\.php\D+81)(?=.*LoginController\.php\D+108)"
             r"(?=.*InstallController\.php\D+89).*IsAdminApi\.php\D+66", [
            _search("throw new (LockedOut|Authorization)Exception", match="regex")]),
        Step("read a whole function", r"(?s)function blockPeriods.*return \$periods", [
            _search("Navigation.blockPeriods", k=1), ("get_chunk", {"id": PLACE, "context": "declaration"})]),
    ),
    "listmonk": (
        Step("where to change a header", r"(?s)(?=.*hdr\.Set\(\"List-Unsubscribe\").*h\.Set\(\"List-Unsubscribe", [
            _search("where is the List-Unsubscribe header of a campaign mail set")]),
        Step("who calls", r"(?s)(?=.*archive\.go\D+166\b.*225)(?=.*templates\.go:251)(?=.*public\.go:187).*pipe\.go:178", [
            ("find_references", {"symbol": "Manager.NewCampaignMessage", "show": "callers"})]),
        # It has no test in Go.
        Step("which tests", r"no test is known", [("related_tests", {"path": "internal/utils/utils.go"})]),
        *_SHARED,
        Step("usages", r"(?s)(?=.*auth\.go\D+296,301,307)(?=.*campaigns\.go:221,230)(?=.*handlers\.go\D+298).*678,685,689", [
            ("find_references", {"symbol": "makeMsgTpl"})]),
        Step("regex", r"(?s)(?=.*campaigns\.go:673)(?=.*301)(?=.*304)(?=.*330)(?=.*465)(?=.*696)(?=.*core\.go:67).*users\.go:31", [
            _search(r"echo\.NewHTTPError\(http\.StatusNotFound", match="regex")]),
        Step("read a whole function", r"(?s)func \(c \*Core\) GetSubscriber\(.*59\t\treturn out\[0\], nil", [
            _search("Core.GetSubscriber", k=1), ("get_chunk", {"id": PLACE, "context": "declaration"})]),
    ),
    "prometheus": (
        Step("where to change a header", r"httpResp\.Header\.Get\(\"Retry-After\"", [
            _search("where is the Retry-After header read when remote write is throttled")]),
        Step("who calls", r"(?s)(?=.*alert\.go:83)(?=.*alertmanager\.go:71)(?=.*scrape\.go:670)(?=.*target\.go:641)"
             r"(?=.*queue_manager\.go:1024).*api\.go:1496", [
            ("find_references", {"symbol": "relabel.Process", "show": "callers"}),
            ("find_references", {"symbol": "ProcessBuilder", "show": "callers"})]),
        Step("which tests", r"model/relabel/relabel_test\.go", [("related_tests", {"path": "model/relabel/relabel.go"})]),
        *_SHARED,
        Step("usages", r"(?s)(?=.*db\.go:418)(?=.*head\.go\D+765,843)(?=.*querier\.go:581)(?=.*watcher\.go\D+315).*482", [
            ("find_references", {"symbol": "ErrNotFound"})]),
        Step("regex", r"(?s)(?=.*matcher\.go:41).*186\D.*222", [_search(r"panic\(\"unknown .*\"", match="regex")]),
        Step("read a whole function", r"(?s)MemPostings\) Delete\(.*366\t\t\tp\.lvs\[name\] = lvs", [
            _search("MemPostings.Delete", k=1), ("get_chunk", {"id": PLACE, "context": "declaration"})]),
    ),
    "traefik": (
        Step("where to change a header", r"Header\(\)\.Set\(\"Retry-After\"", [
            _search("where is the Retry-After header set when a request is rate limited")]),
        Step("who calls", r"(?s)(?=.*manager\.go\D+130)(?=.*aggregator\.go\D+265)(?=.*acme/provider\.go\D+585)"
             r".*tailscale/provider\.go\D+164", [
            ("find_references", {"symbol": "ParseDomains", "show": "callers"})]),
        Step("which tests", r"ratelimiter/rate_limiter_test\.go", [
            ("related_tests", {"path": "pkg/middlewares/ratelimiter/rate_limiter.go"})]),
        *_SHARED,
        Step("usages", r"(?s)(?=.*tcp/manager\.go\D+217)(?=.*tcp/router\.go\D+295)(?=.*server/router/router\.go\D+246).*491", [
            ("find_references", {"symbol": "GetRulePriority"})]),
        Step("regex", r"(?s)(?=.*checker\.go:66)(?=.*569)(?=.*855)(?=.*130)(?=.*challenge_http\.go:128)(?=.*httproute\.go:942)(?=.*823)"
             r".*plugins\.go:33", [
            _search(r"errors\.New\(\"(empty|missing) \w+", match="regex")]),
        Step("read a whole function", r"(?s)func \(m \*Manager\) ParseRouterTree.*164\t}", [
            ("get_chunk", {"id": "Manager.ParseRouterTree"})]),
    ),
    "saleor": (
        Step("where to change a header", r"AppHeaders\.SIGNATURE: signature", [
            _search("where is the Saleor-Signature header of a webhook request set"),
            _search("AppHeaders.SIGNATURE")]),
        Step("who calls", r"(?s)(?=.*synchronous/transport\.py\D+113).*transport/utils\.py\D+356", [
            ("find_references", {"symbol": "signature_for_payload", "show": "callers"})]),
        Step("which tests", r"order/tests/test_fetch\.py", [("related_tests", {"path": "saleor/order/fetch.py"})]),
        *_SHARED,
        Step("usages", r"(?s)(?=.*asynchronous/transport\.py\D+829).*synchronous/transport\.py\D+94", [
            ("find_references", {"symbol": "handle_webhook_retry"})]),
        Step("regex", r"21 lines in (?!.*has more)", [_search(r"raise PermissionDenied\(permissions", match="regex")]),
        Step("read a whole function", r"(?s)def send_webhook_using_http\(.*return WebhookResponse", [
            ("get_chunk", {"id": "send_webhook_using_http"})]),
    ),
    "solidus": (
        Step("where to change a header", r"headers\[\"Surrogate-Key\"\] = \"product_id=1\"", [
            _search("where is the Surrogate-Key header of a product set")]),
        Step("who calls", r"checkout_base_controller\.rb\D+48", [
            ("find_references", {"symbol": "Spree::Order#insufficient_stock_lines", "show": "callers"})]),
        Step("which tests", r"spec/models/spree/payment_spec\.rb", [("related_tests", {"path": "core/app/models/spree/payment.rb"})]),
        *_SHARED,
        Step("usages", r"(?s)(?=.*stock_items_controller\.rb\D+8\b.*80).*stock_location\.rb\D+8\b.*103", [
            ("find_references", {"symbol": "InvalidMovementError"})]),
        Step("regex", r"(?s)(?=.*order_only_conditions\.rb:39)(?=.*simple_order_contents\.rb:117)(?=.*null_promotion_finder\.rb:6)"
             r".*user_methods\.rb:149", [_search(r"raise ActiveRecord::\w+", match="regex")]),
        Step("read a whole function", r"(?s)def cancel\(payment\).*refund_reason\)\.perform!", [
            ("get_chunk", {"id": "Spree::Payment::Cancellation#cancel"})]),
    ),
    "wagtail": (
        Step("where to change a header", r"documents/views/serve\.py:110\D", [
            _search("where is the Content-Security-Policy header of a served document set")]),
        Step("who calls", r"images/views/serve\.py:40\b", [("find_references", {"symbol": "verify_signature", "show": "callers"})]),
        Step("which tests", r"test_move_page\.py", [("related_tests", {"path": "wagtail/actions/move_page.py"})]),
        *_SHARED,
        Step("usages", r"(?s)(?=.*viewsets/chooser\.py\D+252)(?=.*permission_policies/base\.py\D+45)(?=.*v3/routers/pages\.py\D+81\b.*340)"
             r".*models/pages\.py\D+1608", [
            ("find_references", {"symbol": "resolve_model_string"})]),
        Step("regex", r"(?s)20 lines (?=.*convert_alias\.py:41)(?=.*unpublish_page\.py:42).*router\.py:332", [
            _search(r"raise \w*PermissionError\(", match="regex")]),
        Step("read a whole function", r"(?s)def update_aliases.*1247\t", [
            ("get_chunk", {"id": "AbstractPage.update_aliases"})]),
    ),
    "argo-cd": (
        Step("where to change a header", r"w\.Header\(\)\.Set\(\"X-Frame-Options\", server", [
            _search("where is the X-Frame-Options header set in responses")]),
        Step("who calls", r"(?s)(?=.*controller/sync\.go:237).*server/application/application\.go\D+1378.*1387.*1393.*1455", [
            ("find_references", {"symbol": "FormatAppConditions", "show": "callers"})]),
        Step("which tests", r"webhook/webhook_test\.go", [("related_tests", {"path": "util/webhook/webhook.go"})]),
        *_SHARED,
        Step("usages", r"(?s)argo/argo\.go\n.* 958 .*appcontroller\.go:2652", [
            ("find_references", {"symbol": "ErrAnotherOperationInProgress"})]),
        Step("regex", r"(?s)2108.*2138.*2254.*2301", [
            _search(r"codes\.FailedPrecondition, \"[cC]annot", match="regex")]),
        Step("read a whole function", r"(?s)func \(s \*Service\) updateCachedRevision.*manifest cache moved.*return nil", [
            ("get_chunk", {"id": "Service.updateCachedRevision"})]),
    ),
    "rclone": (
        Step("where to change a header", r"resp\.Header\.Get\(retryAfterHeader\)", [
            _search("where is the Retry-After header of a b2 response read"),
            _search("retryAfterHeader", path_glob="backend/b2/**")]),
        Step("who calls", r"(?s)backend/box/box\.go\D+1168\b.*drive/drive\.go\D+3199\b.*sugarsync\.go\D+1052\b", [
            ("find_references", {"symbol": "DirCache.DirMove", "show": "callers"})]),
        Step("which tests", r"token_bucket_test\.go", [("related_tests", {"path": "fs/accounting/token_bucket.go"})]),
        *_SHARED,
        Step("usages", r"(?s)(?=.*http/http\.go\D+280\D.*396)(?=.*netstorage\.go\D+239\D.*631)(?=.*s3\.go\D+3009)"
             r"(?=.*onedrive\.go\D+2947).*serve/dir\.go\D+105\D.*130", [
            ("find_references", {"symbol": "rest.URLPathEscape"})]),
        Step("regex", r"(?s)(?=.*azureblob\.go:86)(?=.*fs/fs\.go\D+34\b).*35\b", [
            _search(r"errors\.New\(\"can't (set|update) \w+", match="regex")]),
        Step("read a whole function", r"(?s)func DirMove\(.*RenameDir rmdir.*2522\t}", [
            ("get_chunk", {"id": "operations.DirMove"}), ("get_chunk", {"id": "fs/operations/operations.go:2436"})]),
    ),
    "lemur": (
        Step("where to change a header", r"(?s)^lemur/certificates/views\.py.*\n777\t", [
            _search("where is the cache-control header of a private key response set")]),
        Step("who calls", r"(?s)(?=.*certificates/service\.py\D+450\b).*lemur_cryptography/plugin\.py\D+26\b", [
            ("find_references", {"symbol": "create_csr", "show": "callers"})]),
        Step("which tests", r"test_validators\.py", [("related_tests", {"path": "lemur/common/validators.py"})]),
        *_SHARED,
        Step("usages", r"(?s)(?=.*common/utils\.py\D+33\D.*353|.*common/utils\.py\D.*337\D.*353)(?=.*acme_handlers\.py\D.*289)"
             r"(?=.*challenge_types\.py\D.*235)(?=.*lemur_gcs/plugin\.py\D.*132).*test_gcs\.py", [
            ("find_references", {"symbol": "InvalidConfiguration"})]),
        Step("regex", r"(?s)(?=.*acme_handlers\.py\D+56\b.*289)(?=.*lemur_email/plugin\.py:137).*lemur_gcs/plugin\.py\D+66\b.*132", [
            _search(r"raise InvalidConfiguration\(", match="regex")]),
        Step("read a whole function", r"(?s)def reissue_certificate\(.*return new_cert", [
            ("get_chunk", {"id": "reissue_certificate"})]),
    ),
}  # fmt: skip


async def transcripts(name: str, folder: Path) -> list[str]:
    """The transcript of a repository's tasks, and a last line with its sums."""
    (folder / "CONSTRAINTS.md").write_text(_RULE)
    lines, calls, spent, solved = [], 0, 0, 0
    async with agent(folder) as user:
        await eventually(partial(_has_read_all, user))
        await user.call("store_memory", content=_DECISION, scope="project")
        for task in TASKS[name]:
            place, found = "", None
            for tool, given in task.calls:
                arguments = {key: place if value == PLACE else value for key, value in given.items()}
                text, place = await _ask(user, tool, arguments)
                calls, spent = calls + 1, spent + count_tokens(text)
                found = re.search(task.evidence, text)
                lines.append(f"{tool} {json.dumps(arguments)}: {count_tokens(text):,} tokens")
                if found:
                    break
            solved += found is not None
            lines.append(f"  {task.goal}: {_line_of(text, found) if found else 'NOT solved'}")
    return [*lines, f"{name}: {solved} of {len(TASKS[name])} solved, {calls} calls, {spent:,} tokens"]


async def _has_read_all(user: Agent) -> bool:
    (project,) = (await user.call("index_status"))["projects"]
    return bool(project["documents"]) and not project["queued_documents"]


async def _ask(user: Agent, tool: str, arguments: dict[str, Any]) -> tuple[str, str]:
    answer = await user.session.call_tool(tool, arguments)
    text: str = answer.content[0].text  # type: ignore[union-attr]
    place = re.match(r"(\S+:\d+)-\d+", text)
    return text, place[1] if place else ""


def _line_of(text: str, found: re.Match[str]) -> str:
    start = text.rfind("\n", 0, found.start()) + 1
    return text[start : start + _EVIDENCE_SHOWN].split("\n")[0].strip()


def main(checkouts: Sequence[str]) -> None:
    """Print the transcripts of the repositories, each given as `NAME=CHECKOUT`."""
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["RAG_LS_HOME"] = str(Path(temporary) / "home")
        for name, checkout in (each.split("=", 1) for each in checkouts):
            folder = Path(temporary) / name
            shutil.copytree(checkout, folder, symlinks=True, ignore=shutil.ignore_patterns(".rag-ls"))
            # Without a model it fails after all files are read.
            subprocess.run([RAG_LS, "index"], cwd=folder, check=False, stdout=subprocess.DEVNULL)
            print("\n".join(asyncio.run(transcripts(name, folder))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
