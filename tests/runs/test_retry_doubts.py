"""A retry leaves to a person what it cannot know: whether a call did something before, and whether it is the same."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.runs.conftest import Replays
from tests.runs.journaled import add
from tests.runs.test_retry import Asked, refuse, retry

from coilclaw.bridge import Caller
from coilclaw.policy import Autonomy
from coilclaw.receipts import Draft
from coilclaw.runs import NotRetryable
from coilclaw.sdk import ToolContext, ToolFailure, define_tool

UNKNOWN = (
    "http_timeout", "plugin_timeout", "plugin_failed", "mcp_timeout", "mcp_broken", "cancelled", "http_unreachable",
    "http_protocol", "response_too_large", "bad_answer", "github_failed", "tool_failed", "timeout", "crash",
)  # fmt: skip


@define_tool(id="ledger.fail", risk="write")
def fail(ctx: ToolContext, code: str) -> int:
    """Writes, and fails as it was told to."""
    add.handler(ctx, code)
    if code == "crash":
        raise RuntimeError("no more")
    raise ToolFailure("it failed", code=code)


def copies(replays: Replays, run_id: str, *kinds: str) -> None:
    """Write the receipts of these kinds once more."""
    log = replays.world.log
    for each in [each for each in log.of_run(run_id) if each.type in kinds]:
        fields = {**each._asdict(), "risk": "write"}
        log.append(Draft(**{name: fields[name] for name in Draft._fields if name in fields}))


def test_a_write_whose_failure_leaves_its_effect_open_is_asked_about(replays: Replays) -> None:
    """Whoever raised the failure: the runtime, an integration, or the tool itself."""
    source = f"[tools.ledger.fail(code=each).code for each in {UNKNOWN}]"
    first = replays.run(source, fail)
    replays.world.approver = asked = Asked("deny")
    assert retry(replays, source, first, fail).value == ["approval_denied"] * len(UNKNOWN)
    assert len(replays.lines()) == len(asked.questions) == len(UNKNOWN)
    assert "failed with http_timeout; what it did is unknown" in asked.questions[0].reason


def test_a_write_that_failed_for_a_reason_is_made_as_usual(replays: Replays) -> None:
    codes = ["not_found", "rate_limited", "invalid_request"]
    source = f"[tools.ledger.fail(code=each).code for each in {codes}]"
    first = replays.run(source, fail)
    assert retry(replays, source, first, fail).value == codes


def test_a_write_that_was_cancelled_is_asked_about(replays: Replays) -> None:
    @define_tool(id="ledger.long", risk="write")
    def long(ctx: ToolContext) -> int:
        add.handler(ctx, "long")
        ctx._is_cancelled = lambda: True
        ctx.raise_if_cancelled()
        return 1

    first = replays.run("tools.ledger.long().code", long)
    assert first.value == "cancelled"
    assert retry(replays, "tools.ledger.long().code", first, long).status == "suspended"
    assert len(replays.lines()) == 1


def test_a_write_that_was_started_twice_is_asked_about(replays: Replays) -> None:
    """The second failure says nothing of what the first execution did before its process died."""
    first = replays.run("tools.ledger.refuse(line='a').code", refuse)
    copies(replays, first.run_id, "tool.call.started", "tool.call.failed")
    again = retry(replays, "tools.ledger.refuse(line='a').code", first, refuse)
    assert (again.status, len(replays.lines())) == ("suspended", 1)


@define_tool(id="ledger.send", risk="write", optional_secrets=["KEY"])
def send(ctx: ToolContext, to: str) -> int:
    """Could be given a secret."""
    add.handler(ctx, to)
    return 1


@pytest.mark.parametrize(("then", "now"), [("[secret KEY]", "hunter22"), ("hunter22", "swordfish")])
def test_a_call_whose_arguments_hold_a_secret_is_not_answered_for(replays: Replays, then: str, now: str) -> None:
    """Receipts have the name of the secret, so other arguments have the same hash."""
    replays.world.secrets["KEY"] = "hunter22"
    first = replays.run(f"tools.ledger.send(to='{then}'); tools.ledger.send(to='ada')", send)
    replays.world.secrets["KEY"] = now
    again = retry(replays, f"[tools.ledger.send(to=each).value for each in ['ada', '{now}']]", first, send)
    assert (again.status, len(replays.lines())) == ("suspended", 2)
    (pending,) = replays.book.list("pending", run_id=again.run_id)
    assert "its arguments may have held another secret" in pending.reason


def test_a_result_that_reports_a_failure_is_not_reused(replays: Replays) -> None:
    @define_tool(id="ledger.build", risk="write", secrets=["KEY"])
    def build(ctx: ToolContext) -> int:
        ctx.report_failure(f"status 1 with {ctx.secrets['KEY']}")
        add.handler(ctx, "built")
        return 1

    replays.world.secrets["KEY"] = "hunter22"
    first = replays.run("tools.ledger.build().value", build)
    assert first.value == 1
    again = retry(replays, "tools.ledger.build().value", first, build)
    assert (again.status, len(replays.lines())) == ("suspended", 1)
    (pending,) = replays.book.list("pending", run_id=again.run_id)
    assert "gave a result that reports a failure (status 1 with [secret KEY])" in pending.reason


def test_the_write_of_the_present_version_answers(replays: Replays) -> None:
    """Although an older version made the same one before."""
    first = replays.run("tools.ledger.add(line='a')")
    changed = replace(add, source_digest="another")
    replays.world.approver = asked = Asked("allow-once")
    second = retry(replays, "tools.ledger.add(line='a')", first, changed)
    third = retry(replays, "tools.ledger.add(line='a').value", second, changed)
    assert (third.value, len(asked.questions), len(replays.lines())) == (2, 1, 2)


def test_a_window_lets_no_doubtful_call_through(replays: Replays) -> None:
    first = replays.run("tools.ledger.fail(code='http_timeout')", fail)
    window = replays.world.open_window(replays.book, fail)
    assert retry(replays, "tools.ledger.fail(code='http_timeout')", first, fail).status == "suspended"
    assert (len(replays.lines()), replays.book.windows()) == (1, [window])


def test_a_window_that_is_opened_meanwhile_lets_no_doubtful_call_through(replays: Replays) -> None:
    first = replays.run("tools.ledger.fail(code='http_timeout')", fail)
    looks: list[object] = []

    def waits() -> bool:
        if not looks:
            replays.world.open_window(replays.book, fail)
        looks.append(None)
        return len(looks) < 9

    asked = Asked("unanswered")  # When it begins to wait, and when it has waited long enough.
    caller = Caller(approver=asked, waits=waits)
    again = retry(replays, "tools.ledger.fail(code='http_timeout')", first, fail, caller=caller)
    assert (again.status, len(asked.questions), len(replays.lines())) == ("suspended", 2, 1)


def test_a_run_that_only_its_row_calls_over_is_refused(replays: Replays) -> None:
    replays.world.autonomy = Autonomy.SUPERVISED
    waits = replays.run("tools.ledger.add(line='a')")
    with replays.database.transaction() as connection:
        connection.execute("UPDATE runs SET status = 'failed' WHERE run_id = ?", (waits.run_id,))
    with pytest.raises(NotRetryable, match="has not ended, whatever the table of runs says"):
        retry(replays, "1", waits)
