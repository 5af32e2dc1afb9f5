"""The events of one call, as drafts of receipts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from coilclaw.bridge.answers import Refusal
from coilclaw.receipts import Draft, now

__all__ = ["bounded", "following", "refused"]

_LONGEST_MESSAGE: Final = 2000


def following(
    draft: Draft, kind: str, status: str, timestamp: str, payload: Mapping[str, Any], result_hash: str | None = None
) -> Draft:
    """The next event of the same call. Written out: `_replace` takes longer than everything else in it."""
    return Draft(
        kind,
        status,
        timestamp,
        draft.run_id,
        draft.conversation_id,
        draft.tool_call_id,
        draft.tool,
        draft.tool_version,
        draft.risk,
        draft.args_hash,
        result_hash,
        payload,
    )


def refused(draft: Draft, refusal: Refusal, facts: Mapping[str, Any] | None = None) -> Draft:
    """The end of a call that gives no value; `facts` say who refused if it was a person, and what is not kept."""
    payload = {"code": refusal.code, "message": bounded(refusal.message), **(facts or {})}
    kind, status = ("tool.call.denied", "denied") if refusal.denied else ("tool.call.failed", "failed")
    return following(draft, kind, status, now(), payload)


def bounded(text: str) -> str:
    """Text that fits into a receipt, whatever wrote it."""
    clean = text.encode("utf-8", "replace").decode()
    return clean if len(clean) <= _LONGEST_MESSAGE else clean[:_LONGEST_MESSAGE] + "…"
