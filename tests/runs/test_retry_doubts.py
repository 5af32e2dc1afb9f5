"""A retry leaves to a person what it cannot know: whether a call did something before, and whether it is the same."""

from __future__ import annotations

from tests.runs.conftest import Replays
from tests.runs.journaled import add
from tests.runs.test_retry import Asked, refuse, retry

from coilclaw.receipts import Draft
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
