"""What waits for a person, shown as it is: in full, on one line where it must be, and with nothing hidden in it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import Any, Final

import click

from coilclaw.cli.composition import Evidence
from coilclaw.policy import Approval
from coilclaw.receipts import ReceiptLog
from coilclaw.runs import NoSuchRun, standing
from coilclaw.sdk import Risk

__all__ = [
    "approval_facts",
    "arguments_of",
    "asked_about",
    "pending_of",
    "shortened",
    "shown_risk",
    "tell_pending",
    "visible",
]

_LONGEST_SHORT: Final = 300
_BLANK: Final = frozenset(
    chr(code)
    for first, last in (
        (0x034F, 0x034F),  # combining grapheme joiner
        (0x115F, 0x1160),  # Hangul fillers
        (0x17B4, 0x17B5),  # Khmer inherent vowels
        (0x180B, 0x180F),  # Mongolian variation selectors
        (0x2800, 0x2800),  # Braille blank
        (0x3164, 0x3164),  # Hangul filler
        (0xFE00, 0xFE0F),  # variation selectors
        (0xFFA0, 0xFFA0),  # half-width Hangul filler
        (0x16FE4, 0x16FE4),  # Khitan filler
        (0x1D159, 0x1D159),  # null note head
        (0xE0100, 0xE01EF),  # more variation selectors, in which whole texts have been hidden
    )
    for code in range(first, last + 1)
)
"""Python calls these printable, and yet nobody sees them."""


def visible(text: str) -> str:
    """The text on one line, with everything that cannot be seen written out as JSON writes it.

    JSON stays JSON of the same value, so that what is shown is what will be sent.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char.isprintable() and char not in _BLANK else json.dumps(char)[1:-1] for char in text)


def shortened(text: str, longest: int = _LONGEST_SHORT) -> str:
    """Visible, and not so long that what comes before scrolls away. What was left out is counted."""
    shown = visible(text)
    return shown if len(shown) <= longest else f"{shown[:longest]}… ({len(text)} characters)"


def shown_risk(risk: str) -> str:
    try:
        return f"{risk} ({Risk(risk).level})"
    except ValueError:
        return visible(risk)


def arguments_of(approval: Approval, log: ReceiptLog) -> Any:
    """The arguments the question is about, or None when they were pruned."""
    body = log.contents(approval.args_hash)
    return None if body is None else json.loads(body)


def asked_about(approval: Approval, log: ReceiptLog) -> dict[str, Any]:
    """One question, for a program."""
    return {
        "id": approval.id,
        "run_id": approval.run_id,
        "tool": approval.tool,
        "arguments": arguments_of(approval, log),
        "status": approval.status,
    }


def approval_facts(approval: Approval, log: ReceiptLog) -> dict[str, Any]:
    """Everything that is known of a question without looking at its run."""
    return {
        **asked_about(approval, log),
        "tool_version": approval.tool_version,
        "risk": approval.risk,
        "reason": approval.reason,
        "number": approval.number,
        "line": approval.line,
        "created": _moment(approval.created_at),
        "expires": _moment(approval.expires_at),
        "decided_by": approval.decided_by,
        "decided": _moment(approval.decided_at) if approval.decided_at is not None else None,
    }


def pending_of(evidence: Evidence, run_id: str | None = None) -> list[Approval]:
    """What a decision could still move: open questions of runs that are not over."""
    over: dict[str, bool] = {}
    found = []
    for each in in_order(evidence.book.list("pending", run_id=run_id)):
        if each.run_id not in over:
            over[each.run_id] = _is_over(evidence, each.run_id)
        if not over[each.run_id]:
            found.append(each)
    return found


def in_order(approvals: Iterable[Approval]) -> list[Approval]:
    """Oldest first; those of one second by run, and then as the calls were issued."""
    return sorted(approvals, key=lambda each: (each.created_at, each.run_id, each.number))


def tell_pending(pending: Iterable[dict[str, Any]], run_id: str, options: str) -> None:
    """Say on stderr what a run waits for, and which commands go on with it."""
    for each in pending:
        arguments = json.dumps(each["arguments"], ensure_ascii=False)
        click.secho(f"\nWaiting for approval: {each['id']}", err=True, bold=True)
        click.echo(f"  Tool:    {visible(each['tool'])}", err=True)
        click.echo(f"  Risk:    {shown_risk(each['risk'])}", err=True)
        click.echo(f"  Reason:  {shortened(each['reason'])}", err=True)
        click.echo(f"  Args:    {shortened(arguments)}", err=True)
        click.echo(f"  Look:    coilclaw approval show {each['id']}", err=True)
        click.echo(f"  Approve: coilclaw approval approve {each['id']} --resume{options}", err=True)
    click.echo(f"Once everything is decided: coilclaw resume {run_id}{options}", err=True)


def _is_over(evidence: Evidence, run_id: str) -> bool:
    try:
        return standing(evidence.database, run_id).status not in ("running", "suspended")
    except NoSuchRun:
        return True


def _moment(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
