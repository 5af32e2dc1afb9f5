"""While everything is stopped no handler is called, whatever allowed the call; those under way are cancelled."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, field_validator
from tests.conftest import World

from coilclaw.bridge import Services
from coilclaw.integrations.files import delete, list_files, read, write
from coilclaw.policy import Answer, ApprovalStore, ApproveAll, Autonomy, EmergencyStop, Question
from coilclaw.runs import NotResumable, RunReport, Runtime
from coilclaw.sandbox import Limits
from coilclaw.sdk import Bounds, Receipt, Risk, Tool, ToolContext, ToolFailure, define_tool
from coilclaw.store import Database

WHEN = "2026-02-03T04:05:06.000000Z"
REASON = f"kim stopped all tools at {WHEN}: enough"

effects: list[str] = []
began = threading.Event()
async_began = threading.Event()


@pytest.fixture(autouse=True)
def no_effects() -> None:
    effects.clear()
    began.clear()
    async_began.clear()


@define_tool(id="test.look", risk="read")
def look(ctx: ToolContext) -> int:
    effects.append("look")
    return 1


@define_tool(id="test.save", risk="write")
def save(ctx: ToolContext, text: str = "x") -> int:
    effects.append(text)
    return len(effects)


class Judged(BaseModel):
    text: str

    @field_validator("text")
    @classmethod
    def check(cls, value: str) -> str:
        effects.append("validated")
        return value


def classify(input: Judged, ctx: ToolContext) -> Risk:
    effects.append("classified")
    return Risk.READ


@define_tool(id="test.judged", risk="read", classify=classify, input=Judged)
def judged(ctx: ToolContext, input: Judged) -> None:
    effects.append("called")


class Stopped:
    """A world with a stop, which is not set at first."""

    def __init__(self, world: World, home: Path) -> None:
        self.world = world
        self.stop = EmergencyStop.of_home(home)
        world.options |= {"stop": self.stop}

    def set(self) -> None:
        assert self.stop.set(who="kim", reason="enough", when=WHEN)

    def run(self, source: str, *tools: Tool, **limits: Any) -> RunReport:
        return self.world.run(source, *tools, **limits)

    def set_once_begun(self) -> threading.Thread:
        """Sets the stop as soon as a handler has begun."""

        def wait() -> None:
            assert began.wait(60)
            self.set()

        thread = threading.Thread(target=wait)
        thread.start()
        return thread

    def receipts(self, kind: str) -> list[Receipt]:
        return [each for each in self.world.log.latest(10_000) if each.type == kind]


@pytest.fixture
def stopped(world: World, tmp_path: Path) -> Stopped:
    return Stopped(world, tmp_path / "home")


# New calls -------------------------------------------------------------------------------------------


@pytest.mark.req("R477")
def test_every_call_is_refused_and_the_snippet_can_still_answer(stopped: Stopped) -> None:
    stopped.set()
    report = stopped.run(
        """
results = [tools.test.look(), tools.test.save(text="x")]
[[r.ok, r.error.code, r.error.message, r.error.hint] for r in results]
""",
        look,
        save,
    )
    hint = "do without tools; a person ends this with `coilclaw estop --clear`"
    assert (report.status, report.value) == ("completed", [[False, "stopped", REASON, hint]] * 2)
    assert effects == []
    assert stopped.world.types() == ["tool.call.requested", "tool.call.denied"] * 2
    assert {each.payload["code"] for each in stopped.receipts("tool.call.denied")} == {"stopped"}
    assert stopped.world.log.verify().ok


@pytest.mark.parametrize("call", ["tools.test.save(nothing=1)", "getattr(tools.test, 'unknown')()"])
def test_no_other_reason_is_given_while_everything_is_stopped(stopped: Stopped, call: str) -> None:
    stopped.set()
    assert stopped.run(f"save = tools.test.save\n{call.replace('tools.test.save', 'save')}.error.code", save).value == (
        "stopped"
    )


def test_a_snippet_without_calls_runs(stopped: Stopped) -> None:
    stopped.set()
    assert stopped.run("sum(range(10))").value == 45


def test_a_direct_call_is_refused(stopped: Stopped) -> None:
    stopped.set()
    runtime = stopped.world.runtime()
    result, _ = runtime.call("test.save", {}, stopped.world.registry(save), Limits())
    assert result.error is not None
    assert result.error.code == "stopped"
    assert effects == []


def test_calls_beside_the_snippet_are_refused(stopped: Stopped) -> None:
    stopped.set()
    bridge = stopped.world.bridge(save)
    bridge.begin("test.save", b"{}", 1)
    assert b"stopped" in bridge.wait(None)
    bridge.close()
    assert effects == []


def test_swallowing_the_refusal_a_thousand_times_changes_nothing(stopped: Stopped) -> None:
    stopped.set()
    source = """
codes = set()
for number in range(1000):
    try:
        tools.test.save(text="x").unwrap()
    except BaseException as error:
        codes.add(error.code)
sorted(codes)
"""
    assert stopped.run(source, save, seconds=60).value == ["stopped"]
    assert effects == []
    assert len(stopped.receipts("tool.call.denied")) == 1000


@pytest.mark.req("R480")
def test_calls_work_again_once_it_is_cleared(stopped: Stopped) -> None:
    stopped.set()
    assert stopped.run("tools.test.look().ok", look).value is False
    stopped.stop.clear()
    assert stopped.run("tools.test.look().ok", look).value is True


def test_a_stop_in_the_middle_of_a_run_refuses_what_comes_after(stopped: Stopped) -> None:
    @define_tool(id="test.stop", risk="write")
    def quick(ctx: ToolContext) -> None:
        """Ends before anyone looks."""
        effects.append("quick")

    bridge = stopped.world.bridge(quick, save)
    assert b'"ok":true' in bridge.call("test.stop", b"{}", 1)
    stopped.set()
    assert b'"code":"stopped"' in bridge.call("test.save", b"{}", 2)
    bridge.close()
    assert effects == ["quick"]


@pytest.mark.parametrize("make", ["folder", "dangling link"])
def test_a_stop_that_became_something_else_still_holds(stopped: Stopped, make: str) -> None:
    stopped.set()
    stopped.stop.path.unlink()
    if make == "folder":
        stopped.stop.path.mkdir()
    else:
        stopped.stop.path.symlink_to("nowhere")
    assert stopped.run("tools.test.save().error.code", save).value == "stopped"
    assert effects == []


def test_no_code_of_an_author_is_run_for_a_refused_call(stopped: Stopped) -> None:
    stopped.set()
    assert stopped.run("tools.test.judged(text='x').error.code", judged).value == "stopped"
    assert effects == []


# Whatever allowed the call --------------------------------------------------------------------------------


def test_approving_everything_in_advance_does_not_help(stopped: Stopped) -> None:
    stopped.world.autonomy = Autonomy.SUPERVISED
    stopped.world.approver = ApproveAll("kim (--yes)")
    stopped.set()
    assert stopped.run("tools.test.save().error.code", save).value == "stopped"
    assert effects == []


def test_a_stop_that_is_set_while_a_person_thinks_comes_before_the_start(stopped: Stopped) -> None:
    class Thinking:
        def decide(self, question: Question) -> Answer:
            stopped.set()
            return Answer(decision="allow-once", decided_by="lee")

    stopped.world.autonomy = Autonomy.SUPERVISED
    stopped.world.approver = Thinking()
    assert stopped.run("tools.test.save().error.code", save).value == "stopped"
    assert effects == []
    assert "tool.call.started" not in stopped.world.types()


def test_a_window_does_not_help_and_is_not_used_up(stopped: Stopped, database: Database) -> None:
    book = ApprovalStore(database, stopped.world.log)
    stopped.world.autonomy = Autonomy.SUPERVISED
    stopped.world.options |= {"database": database, "approvals": book}
    grant = stopped.world.open_window(book, save, uses=1)
    stopped.set()
    assert stopped.run("tools.test.save().error.code", save).value == "stopped"
    assert effects == []
    assert book.windows() == [grant]


def test_a_stop_between_admission_and_the_handler_is_seen(stopped: Stopped) -> None:
    """Set while the tool classifies the call: allowed, but not yet begun."""

    def classify(input: Any, ctx: ToolContext) -> Risk:
        stopped.set()
        return Risk.WRITE

    @define_tool(id="test.late", risk="write", classify=classify)
    def late(ctx: ToolContext) -> None:
        effects.append("called")

    assert stopped.run("tools.test.late().error.code", late).status in ("completed", "cancelled")
    assert effects == []
    assert stopped.world.types()[-1] == "tool.call.denied"


def test_calls_that_wait_for_their_turn_are_not_begun(stopped: Stopped) -> None:
    """Sixty-four calls at once; the others are started, on paper, and wait."""
    entered = threading.Semaphore(0)

    @define_tool(id="test.slow", risk="read")
    def slow(ctx: ToolContext) -> None:
        effects.append("began")
        entered.release()
        while not ctx.cancelled:
            time.sleep(0.005)
        ctx.raise_if_cancelled()

    bridge = stopped.world.bridge(slow, limits=Limits(kept_bytes=256 * 2**20))  # Room for all their results.
    for _ in range(100):
        bridge.begin("test.slow", b"{}", 1)
    for _ in range(64):
        assert entered.acquire(timeout=60)
    stopped.set()
    with pytest.raises(Exception, match="cancelled"):
        while True:
            bridge.wait(None)
    bridge.close()
    assert len(effects) == 64


# Calls under way ------------------------------------------------------------------------------------------


@define_tool(id="test.attentive", risk="write")
def attentive(ctx: ToolContext) -> None:
    began.set()
    while not ctx.cancelled:
        time.sleep(0.005)
    effects.append("cleaned up")
    raise ToolFailure("given up", code="cancelled")


release = threading.Event()


@define_tool(id="test.deaf", risk="write")
def deaf(ctx: ToolContext) -> None:
    began.set()
    release.wait(30)


@define_tool(id="test.waits", risk="write")
async def waits(ctx: ToolContext) -> None:
    began.set()
    async_began.set()
    try:
        await asyncio.sleep(30)
    except asyncio.CancelledError:
        effects.append("cancelled")
        raise


@pytest.fixture
def released() -> Iterator[None]:
    release.clear()
    yield
    release.set()


@pytest.mark.req("R478")
@pytest.mark.usefixtures("released")
@pytest.mark.parametrize("tool", [attentive, deaf, waits], ids=["attentive", "deaf", "async"])
def test_a_call_under_way_is_cancelled_with_its_run(stopped: Stopped, tool: Tool) -> None:
    setting = stopped.set_once_begun()
    report = stopped.run(f"tools.{tool.id}()\nprint('went on')\ntools.test.save()", tool, save, seconds=30)
    setting.join()
    assert report.status == "cancelled"
    assert "x" not in effects
    (end,) = stopped.receipts("tool.call.failed")
    if tool is attentive:
        assert effects == ["cleaned up"]
        assert end.payload["code"] == "cancelled"
    else:
        assert end.payload == {"code": "stopped", "message": f"{REASON}; what the tool did is unknown"}
    (finished,) = stopped.receipts("run.finished")
    assert finished.payload["stopped"] == REASON
    assert stopped.world.log.verify().ok


@pytest.mark.req("R478")
@pytest.mark.usefixtures("released")
def test_calls_beside_the_snippet_are_cancelled_while_it_computes(stopped: Stopped) -> None:
    bridge = stopped.world.bridge(deaf, waits)
    bridge.begin("test.deaf", b"{}", 1)
    bridge.begin("test.waits", b"{}", 2)
    assert began.wait(60)
    assert async_began.wait(60)
    stopped.set()
    with pytest.raises(Exception, match="cancelled"):
        while True:
            bridge.wait(None)
    bridge.close()
    ends = stopped.receipts("tool.call.failed")
    assert [each.payload["code"] for each in ends] == ["stopped", "stopped"]


@pytest.mark.usefixtures("released")
def test_a_handler_called_in_place_cannot_hold_the_run(stopped: Stopped) -> None:
    """Quick twice, so it is called on the run's own thread, and then it hangs."""
    times = iter(range(10))

    @define_tool(id="test.sly", risk="read")
    def sly(ctx: ToolContext) -> None:
        if next(times) >= 3:
            began.set()
            release.wait(30)

    setting = stopped.set_once_begun()
    report = stopped.run("for _ in range(4):\n    tools.test.sly()", sly, seconds=30)
    setting.join()
    assert report.status == "cancelled"


def test_the_person_who_waits_is_told_why(stopped: Stopped) -> None:
    told: list[tuple[str, str]] = []
    stopped.world.of_caller["progress"] = lambda tool, message: told.append((tool, message))
    setting = stopped.set_once_begun()
    assert stopped.run("tools.test.attentive()", attentive, seconds=30).status == "cancelled"
    setting.join()
    deadline = time.monotonic() + 60
    while not told and time.monotonic() < deadline:
        time.sleep(0.005)
    assert told == [("test.attentive", REASON)]


def test_nothing_watches_once_a_run_has_ended(stopped: Stopped) -> None:
    stopped.run("tools.test.look()", look)
    for thread in threading.enumerate():
        if thread.name == "coilclaw-stop":
            thread.join(60)
            assert not thread.is_alive()


# Runs that wait -------------------------------------------------------------------------------------------


@pytest.fixture
def waiting(stopped: Stopped, database: Database) -> ApprovalStore:
    book = ApprovalStore(database, stopped.world.log)
    stopped.world.autonomy = Autonomy.SUPERVISED
    stopped.world.options |= {"database": database, "approvals": book}
    return book


def _resume(services: Services, world: World, run_id: str, *tools: Tool) -> RunReport:
    return Runtime(services).resume(run_id, lambda name: world.engine, world.registry(*tools))


def test_a_run_that_waits_goes_on_waiting(stopped: Stopped, waiting: ApprovalStore) -> None:
    world = stopped.world
    report = stopped.run("tools.test.save().unwrap()", save)
    assert report.status == "suspended"
    (question,) = waiting.list("pending")
    stopped.set()
    waiting.decide(question.id, approved=True, decided_by="lee")
    with pytest.raises(NotResumable, match=f"{report.run_id} waits on: kim stopped all tools") as raised:
        _resume(world.services(), world, report.run_id, save)
    assert raised.value.hint == "`coilclaw estop --clear` and `estop.clear()` end the stop"
    assert effects == []
    assert stopped.receipts("run.resumed") == []
    stopped.stop.clear()
    assert _resume(world.services(), world, report.run_id, save).value == 1


def test_an_approved_call_of_a_resumed_run_is_refused(stopped: Stopped, waiting: ApprovalStore) -> None:
    """Set right after the run was taken up again."""
    world = stopped.world
    report = stopped.run("tools.test.save().error.code", save)
    (question,) = waiting.list("pending")
    waiting.decide(question.id, approved=True, decided_by="lee")
    looks = iter([None])
    world.options["stop"] = lambda: next(looks, "stopped by then")
    report = _resume(world.services(), world, report.run_id, save)
    assert (report.status, report.value) == ("completed", "stopped")
    assert effects == []
    assert waiting.get(question.id).status != "consumed"


def test_a_call_of_unknown_outcome_is_not_called_refused(stopped: Stopped, waiting: ApprovalStore) -> None:
    """Its process died while it ran; a stop must not turn that into "was not called"."""
    world = stopped.world
    report = stopped.run("tools.test.save().unwrap()", save)
    (question,) = waiting.list("pending")
    waiting.decide(question.id, approved=True, decided_by="lee")

    @define_tool(id="test.save", risk="write")
    def dies(ctx: ToolContext, text: str = "x") -> int:
        raise AssertionError("not called")

    receipts = world.log.of_run(report.run_id)
    requested = next(each for each in receipts if each.type == "tool.call.requested")
    from coilclaw.receipts import Draft, now

    world.log.append(
        Draft(
            "tool.call.started",
            "allowed",
            now(),
            report.run_id,
            None,
            requested.tool_call_id,
            requested.tool,
            requested.tool_version,
            "write",
            requested.args_hash,
        )
    )
    looks = iter([None])
    world.options["stop"] = lambda: next(looks, "stopped by then")
    again = _resume(world.services(), world, report.run_id, save)
    assert (again.status, again.unknown) == ("suspended", "test.save")
    assert stopped.receipts("tool.call.denied") == []
    assert effects == []


def test_a_run_that_stays_is_refused_what_it_waited_for(stopped: Stopped, waiting: ApprovalStore) -> None:
    stopped.world.of_caller["waits"] = lambda: True

    def person() -> None:
        while not (pending := waiting.list("pending")):
            time.sleep(0.005)
        stopped.set()
        waiting.decide(pending[0].id, approved=True, decided_by="lee")

    thread = threading.Thread(target=person)
    thread.start()
    report = stopped.run("tools.test.save().error.code", save)
    thread.join()
    assert (report.status, report.value) == ("completed", "stopped")
    assert effects == []


# The file itself ------------------------------------------------------------------------------------------


def test_tools_cannot_touch_the_file(world: World, tmp_path: Path) -> None:
    """Even where the home is inside the workspace, and with the stop itself not looked at."""
    home = world.workspace / ".coilclaw"
    stop = EmergencyStop.of_home(home)
    stop.set(who="kim", reason="enough", when=WHEN)
    (world.workspace / "way").symlink_to(home)
    world.options["bounds"] = Bounds(forbidden_paths=(home,))
    before = stop.path.read_bytes()
    source = """
codes = []
for path in (".coilclaw/ESTOP", "way/ESTOP", ".coilclaw/../.coilclaw/ESTOP", "./.coilclaw//ESTOP", ".coilclaw"):
    codes.append(tools.files.delete(path=path).ok)
    codes.append(tools.files.write(path=path, text="").ok)
    codes.append(tools.files.read(path=path).ok)
    codes.append(tools.files.list(path=path).ok)
any(codes)
"""
    report = world.run(source, delete, write, read, list_files)
    assert (report.status, report.value) == ("completed", False)
    assert stop.path.read_bytes() == before
