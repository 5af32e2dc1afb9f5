"""A pydantic-ai toolset with one tool, `run_python`: a snippet in the sandbox, over an app or a remote server.

A call that needs approval becomes pydantic-ai's own deferred tool request; approving that approves exactly the calls
which its metadata shows, and nothing that the snippet asks for later.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic_ai import ApprovalRequired, RunContext
from pydantic_ai.toolsets import FunctionToolset

from coilclaw.app import CoilClaw, Report
from coilclaw.client import Client, Run

__all__ = ["CoilClawToolset"]

_BUDGET: Final = 2000
_ABOUT: Final = (
    "Run Python in a sandbox and return what it printed and the value of its last expression. The only thing that it "
    "can reach is `tools`; each call returns a Result: `.unwrap()` gives the value, `.error` says what failed.\n\n"
)


class CoilClawToolset(FunctionToolset[Any]):
    """Gives an agent `run_python`. The app or client stays the caller's to close."""

    def __init__(self, claw: CoilClaw | Client, *, by: str = "pydantic-ai", budget: int = _BUDGET) -> None:
        """`by` is who approvals are recorded under in an app; at a server it is the token. `budget` is in tokens."""
        super().__init__(id="coilclaw")
        self._claw = claw
        self._by = by
        self._suspended: dict[str, dict[str, Any]] = {}
        self.add_function(self._run_python, name="run_python", description=_ABOUT + _described(claw, budget))

    async def _run_python(self, ctx: RunContext[Any], code: str) -> dict[str, Any]:
        call_id = ctx.tool_call_id or ""
        waiting = self._suspended.pop(call_id, None) or _kept(ctx.tool_call_metadata)
        if ctx.tool_call_approved and waiting is not None:
            report = await asyncio.to_thread(self._continued, waiting)
        else:
            report = await asyncio.to_thread(lambda: self._claw.run(code))
        if report.status != "suspended":
            return _answer(report)
        shown = await asyncio.to_thread(self._shown, report.run_id)
        self._suspended[call_id] = shown
        raise ApprovalRequired(metadata={"coilclaw": shown})

    def _shown(self, run_id: str) -> dict[str, Any]:
        """What a person is asked about: the run, and each pending call of it."""
        names = ("id", "tool", "arguments", "risk", "reason", "digest")
        if isinstance(self._claw, Client):
            found: list[Any] = [each for each in self._claw.approvals() if each.run_id == run_id]
        else:
            found = list(self._claw.approvals.pending(run_id))
        return {"run_id": run_id, "approvals": [{name: getattr(each, name) for name in names} for each in found]}

    def _continued(self, waiting: Mapping[str, Any]) -> Report | Run:
        run_id = str(waiting["run_id"])
        for each in waiting["approvals"]:
            if isinstance(self._claw, Client):
                asked = self._claw.approval(each["id"])
                self._claw.approve(asked.model_copy(update={"digest": each["digest"]}))
            else:
                self._claw.approvals.check_digest(each["id"], each["digest"])
                self._claw.approvals.approve(each["id"], by=self._by)
        report = self._claw.resume(run_id)
        return self._claw.wait(run_id) if isinstance(self._claw, Client) else report


def _described(claw: CoilClaw | Client, budget: int) -> str:
    if not isinstance(claw, Client):
        return claw.tools.stubs(budget).text
    return "\n".join(f"tools.{each.id}: {each.description.partition(chr(10))[0]}" for each in claw.tools())


def _kept(metadata: Any) -> dict[str, Any] | None:
    """What an earlier process was asked, if the program gave it back with the decision."""
    kept = metadata.get("coilclaw") if isinstance(metadata, Mapping) else None
    return dict(kept) if isinstance(kept, Mapping) and {"run_id", "approvals"} <= set(kept) else None


def _answer(report: Report | Run) -> dict[str, Any]:
    facts = report.facts() if isinstance(report, Report) else report.model_dump(mode="json")
    kept = {name: facts[name] for name in ("run_id", "status", "value", "stdout", "error")}
    kept["activity"] = [
        {name: each[name] for name in ("tool_id", "status", "receipt_ref")} for each in facts["activity"]
    ]
    made: dict[str, Any] = json.loads(json.dumps(kept))
    return made
