"""The action section of an answer: what was done, written by code from receipts and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from coilclaw.evidence import approval_words
from coilclaw.sdk.legible import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coilclaw.agent.answer import FailedSnippet
    from coilclaw.evidence import Relevant
    from coilclaw.sdk import ActivityItem

__all__ = ["action_lines"]

_WORDS: Final = {
    "succeeded": "done",
    "failed": "failed",
    "denied": "denied",
    "pending": "waits",
    "running": "under way",
    "unknown": "unknown outcome",
}
_LONGEST: Final = 300


def action_lines(activity: Relevant, failed: Iterable[FailedSnippet] = ()) -> str:
    """One line for each relevant call and each failed snippet, with its receipt. Empty if there was none.

    The brackets around the receipt stand for nothing else: what others wrote has them written out.
    """
    lines = [_line(item) for item in activity.items]
    if activity.folded_reads:
        lines.append(f"and {activity.folded_reads} plain read{'s' if activity.folded_reads > 1 else ''}")
    lines += [f"failed: {each.words} ⟦{each.receipt_ref}⟧" for each in failed]
    return "\n".join(lines)


def _line(item: ActivityItem) -> str:
    approval = approval_words(item)
    what = one_line(item.summary or item.tool_id, _LONGEST)
    who = f", {one_line(approval, 100)}" if approval else ""
    return f"{_WORDS[item.status]}: {what} ⟦{item.receipt_ref}{who}⟧"
