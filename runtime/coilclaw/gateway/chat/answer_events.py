"""What a stream says about an answer: while it is made, and again from memory when it is over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from coilclaw.gateway.event_stream import StreamEvent

if TYPE_CHECKING:
    from coilclaw.app import ApprovalRequest
    from coilclaw.gateway.chat.answer_work import AnswerWork
    from coilclaw.memory import Turn

__all__ = ["approval_facts", "done_facts", "kept_events", "message_facts", "tool_facts"]


def tool_facts(item: Mapping[str, Any], approval_id: str | None = None) -> dict[str, Any]:
    """A call, as an activity has it, for a `tool` event."""
    facts = {
        "tool": item.get("tool_id"),
        "args_summary": item.get("summary") or "",
        "status": item.get("status"),
        "call_id": item.get("call_id"),
        "message": item.get("message"),
    }
    return facts if approval_id is None else {**facts, "approval_id": approval_id}


def approval_facts(asked: ApprovalRequest) -> dict[str, Any]:
    """A call that waits for a person, for a `tool` event."""
    item = {
        "tool_id": asked.tool,
        "summary": asked.reason,
        "status": "pending",
        "call_id": f"call-{asked.run_id.removeprefix('run-')}-{asked.number}",
    }
    return {**tool_facts(item, asked.id), "run_id": asked.run_id, "risk": asked.risk}


def kept_events(answer: Turn, work: AnswerWork) -> Iterator[StreamEvent]:
    """The events of an answer that is in memory: its calls as they ended, its text, and `done`."""
    for item in work.trace:
        yield StreamEvent("tool", tool_facts(item))
    yield StreamEvent("delta", {"text": answer.content})
    yield StreamEvent("done", done_facts(answer))


def done_facts(answer: Turn) -> dict[str, Any]:
    """The end of a stream."""
    return {
        "assistant_message_id": answer.id,
        "usage": answer.metadata.get("usage"),
        "status": answer.metadata.get("status", "answered"),
    }


def message_facts(turn: Turn, work: AnswerWork | None = None) -> dict[str, Any]:
    """A message as the API shows it; an answer with what was done for it."""
    metadata: dict[str, Any] = {}
    if turn.role == "assistant" and work is not None:
        kept = turn.metadata
        metadata = {
            "status": kept.get("status"),
            "trace": [tool_facts(item) for item in work.trace],
            "activity": list(work.activity),
            "approvals": [
                {name: item.get(name) for name in ("tool_id", "call_id", "approval", "decided_by", "scope")}
                for item in work.trace
                if item.get("approval") not in (None, "none")
            ],
            "drafts": [],
            "run_ids": list(work.run_ids),
            "claims": list(work.claims),
            "provider": turn.provider,
            "model": turn.model,
            "usage": kept.get("usage"),
            "view": kept.get("view"),
        }
    return {
        "id": turn.id,
        "role": turn.role,
        "content": turn.content,
        "created_at": turn.timestamp,
        "metadata": metadata,
    }
