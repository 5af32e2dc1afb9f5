"""Calls side by side that compete for the last room in the store."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.conftest import World

from coilclaw.bridge import Bridge, PriorCall, handlers
from coilclaw.policy import ApprovalStore, Autonomy
from coilclaw.receipts import digest
from coilclaw.sandbox import Cancelled, Limits, RunEnded, Suspended
from coilclaw.sdk import Risk, Tool, ToolContext, define_tool
from coilclaw.trust import GuardedCall, TrustLedger, WriteGuard

LIMITS = Limits(kept_bytes=8000)
"""Of which an eighth is left for receipts: there is room for one result of 4000 bytes at a time."""


@dataclass
class Rivals:
    """A call that fills the store once it is released, and one that a person has to allow."""

    world: World
    book: ApprovalStore
    threads: ThreadPoolExecutor
    released: threading.Event = field(default_factory=threading.Event)
    judged: threading.Event = field(default_factory=threading.Event)
    saved: list[str] = field(default_factory=list)

    def tools(self) -> tuple[Tool, Tool]:
        def judge(input: Any, ctx: ToolContext) -> Risk:
            self.judged.set()
            return Risk.WRITE

        @define_tool(id="test.fill", risk="read")
        def fill(ctx: ToolContext) -> str:
            self.released.wait(60)
            return "x" * 3900

        @define_tool(id="test.save", risk="write", classify=judge)
        def save(ctx: ToolContext) -> int:
            self.saved.append(ctx.call_id)
            return 1

        return fill, save

    def bridge(self) -> Bridge:
        return self.world.bridge(*self.tools(), limits=LIMITS)

    def compete(self, bridge: Bridge) -> Future[bytes]:
        """The second call, on its way while the first one holds the room; it was admitted when there was some."""
        bridge.begin("test.fill", b"{}", 1)
        self.judged.clear()
        second = self.threads.submit(bridge.call, "test.save", b"{}", 2)
        assert self.judged.wait(60)
        return second

    def ends(self) -> list[tuple[str, str | None]]:
        """What the log says of the second call since it was requested last."""
        self.world.log.flush()
        found = [each for each in self.world.log.of_run("run-test") if each.tool == "test.save"]
        first = max(n for n, each in enumerate(found) if each.type == "tool.call.requested")
        return [(each.type.removeprefix("tool.call."), each.payload.get("code")) for each in found[first:]]


@pytest.fixture
def rivals(world: World) -> Iterator[Rivals]:
    world.autonomy = Autonomy.SUPERVISED
    book = ApprovalStore(world.log._database, world.log)
    world.options |= {"approvals": book, "database": world.log._database, "response_bytes": 4000}
    with ThreadPoolExecutor(1) as threads:
        made = Rivals(world, book, threads)
        yield made
        made.released.set()


def _by_window(rivals: Rivals) -> Callable[[], object]:
    grant = rivals.world.open_window(rivals.book, rivals.tools()[1])
    return lambda: [each.uses_left == grant.uses for each in rivals.book.windows()] == [True]


def _by_approval(rivals: Rivals) -> Callable[[], object]:
    bridge = rivals.bridge()
    bridge.issue()
    with pytest.raises(RunEnded):
        bridge.call("test.save", b"{}", 2)
    (asked,) = rivals.book.list("pending")
    rivals.book.decide(asked.id, approved=True, decided_by="me")
    return lambda: rivals.book.get(asked.id).status == "granted"


@pytest.mark.parametrize("allow", [_by_window, _by_approval])
def test_a_call_that_gets_no_room_is_not_started_and_uses_no_leave_up(
    rivals: Rivals, allow: Callable[[Rivals], Callable[[], object]]
) -> None:
    is_unused = allow(rivals)
    bridge = rivals.bridge()
    second = rivals.compete(bridge)
    rivals.released.set()
    assert json.loads(second.result(60))["code"] == "evidence_budget"
    bridge.close()
    assert rivals.ends() == [("requested", None), ("denied", "evidence_budget")]
    assert is_unused()
    assert rivals.saved == []


def test_a_call_whose_run_ends_while_it_waits_for_room_is_abandoned(rivals: Rivals) -> None:
    is_unused = _by_window(rivals)
    bridge = rivals.bridge()
    second = rivals.compete(bridge)
    bridge._deadline.cancel()
    with pytest.raises(RunEnded):
        second.result(60)
    bridge.close()
    assert rivals.ends() == [("requested", None), ("failed", "abandoned")]
    assert is_unused()


def test_room_that_was_set_aside_comes_back_whatever_the_end_of_a_call(rivals: Rivals) -> None:
    @define_tool(id="test.fail", risk="read")
    def fail(ctx: ToolContext) -> int:
        raise ValueError("no")

    bridge = rivals.world.bridge(fail, limits=LIMITS)
    codes = [json.loads(bridge.call("test.fail", b"{}", 1))["code"] for _ in range(5)]
    assert codes == ["tool_crashed"] * 5
    assert bridge.budget.hold(4000, lambda: False)


@pytest.mark.parametrize("stops", [True, False])
def test_a_call_whose_end_could_not_be_gathered_has_an_end_all_the_same(
    rivals: Rivals, monkeypatch: pytest.MonkeyPatch, stops: bool
) -> None:
    world = rivals.world
    world.autonomy = Autonomy.FULL
    ledger = TrustLedger(world.log._database, world.log, world.workspace / "tools")
    world.options["guard"] = WriteGuard(ledger, world.log, dict)

    def run_out(call: GuardedCall) -> None:
        raise MemoryError

    monkeypatch.setattr(GuardedCall, "settle", run_out)
    bridge = rivals.bridge()
    if stops:
        with pytest.raises(MemoryError):
            bridge.call("test.save", b"{}", 1)
    else:
        bridge.begin("test.save", b"{}", 1)
        ((_, answer),) = json.loads(bridge.wait(60))
        assert json.loads(answer)["code"] == "evidence_unavailable"
    bridge.close()
    code = "abandoned" if stops else "evidence_unavailable"
    assert rivals.ends() == [("requested", None), ("started", None), ("failed", code)]


def test_a_call_that_may_have_run_and_gets_no_room_is_left_to_a_person(rivals: Rivals) -> None:
    """Its receipts must not say that it was not called."""
    fill = rivals.tools()[0]
    known = rivals.world.registry(fill).resolve("test.fill")
    assert known is not None
    prior = PriorCall(1, "test.fill", known.version, digest(b"{}"), "started")
    bridge = Bridge(rivals.world.services(), rivals.world.spec(fill, prior={1: prior}, limits=Limits(kept_bytes=100)))
    with pytest.raises(RunEnded) as ended:
        bridge.call("test.fill", b"{}", 1)
    bridge.close()
    assert isinstance(ended.value.outcome, Suspended)
    assert bridge.unknown is not None
    assert rivals.world.types() == []


def test_a_run_is_suspended_only_when_the_calls_beside_it_have_ended(rivals: Rivals) -> None:
    bridge = rivals.world.bridge(*rivals.tools())
    asked = rivals.compete(bridge)
    assert not wait([asked], timeout=0.2).done
    rivals.released.set()
    with pytest.raises(RunEnded):
        asked.result(30)
    bridge.close()
    assert [each.type for each in rivals.world.log.of_run("run-test") if each.tool == "test.fill"][-1] == (
        "tool.call.succeeded"
    )


def test_a_run_that_is_suspended_waits_for_no_call_beyond_its_time(
    rivals: Rivals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handlers, "_QUICK_SECONDS", 60.0)
    bridge = rivals.world.bridge(*rivals.tools())
    rivals.released.set()
    for _ in range(3):  # It has proven quick, so that nobody gives it up when it hangs.
        bridge.call("test.fill", b"{}", 1)
    rivals.released.clear()
    asked = rivals.compete(bridge)
    assert not wait([asked], timeout=0.2).done
    bridge.run.deadline.cancel()
    with pytest.raises(RunEnded) as ended:
        asked.result(10)
    assert isinstance(ended.value.outcome, Cancelled)
    rivals.released.set()
    bridge.close()
