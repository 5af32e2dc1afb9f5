"""The context of one call: what its handler and its classifier are given besides the input."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from coilclaw.bridge.call_receipts import bounded, following
from coilclaw.bridge.redaction import Redaction
from coilclaw.net import GuardedNetwork
from coilclaw.receipts import now
from coilclaw.sdk import ToolContext
from coilclaw.sdk.legible import text_of

if TYPE_CHECKING:
    from coilclaw.bridge.calls import Call
    from coilclaw.bridge.calls_under_way import CallsUnderWay
    from coilclaw.bridge.run_spec import RunSpec
    from coilclaw.bridge.services import Services
    from coilclaw.sdk import Tool

__all__ = ["CallContexts"]

_MOST_PROGRESS: Final = 20
_PROGRESS_SHARE: Final = 16
"""One part in so many of what a run may leave behind is for the progress of its calls."""


class CallContexts:
    """Makes the contexts of one run's calls."""

    def __init__(self, services: Services, run: RunSpec, under_way: CallsUnderWay) -> None:
        self._services = services
        self._run = run
        self._under_way = under_way
        self._progress_bytes = run.limits.kept_bytes // _PROGRESS_SHARE

    def of(self, call: Call, tool: Tool, secrets: dict[str, str]) -> ToolContext:
        services, caller = self._services, self._run.caller
        return ToolContext(
            workspace=services.workspace,
            # For file tools alone: others start programs in a folder that was judged by its path in the project.
            tools_folder=services.tools_folder if tool.integration == "files" else None,
            tool_id=tool.id,
            run_id=self._run.run_id,
            call_id=call.id,
            session_id=caller.conversation,
            agent=caller.agent,
            project=caller.project,
            view=caller.view,
            idempotency_key=call.id,
            secrets=secrets,
            hosts=tool.hosts,
            bounds=services.bounds,
            settings=services.settings(tool.integration),
            time_left=self._time_left,
            is_cancelled=self._under_way.is_cancelled,
            report_progress=lambda message: self._progress(call, tool, message, Redaction(secrets)),
            note_written=lambda data: self._note_written(call, data),
            ask=self._ask,
            network=GuardedNetwork,
        )

    def _time_left(self) -> float:
        return self._run.deadline.remaining

    def _ask(self, question: str) -> str | None:
        with self._run.deadline.paused():
            return self._run.caller.ask(question)

    def _note_written(self, call: Call, data: bytes) -> None:
        if self._services.guard is not None:
            self._services.guard.note_written(call.id, data)

    def _progress(self, call: Call, tool: Tool, message: str, redaction: Redaction) -> None:
        """Shown to the person at once; the first few of a call also go into the receipts, while there is room."""
        shown = bounded(redaction.text(text_of(message)))
        self._run.caller.progress(tool.id, shown)
        admitted = self._under_way.get(call.number)
        size = len(json.dumps(shown))
        if admitted is not None and next(admitted.progress) < _MOST_PROGRESS and size <= self._progress_bytes:
            self._progress_bytes -= size
            draft = following(admitted.draft, "tool.call.progress", "allowed", now(), {"message": shown})
            self._services.log.append_relaxed(draft)
