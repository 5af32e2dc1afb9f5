"""Whatever an author's code raises, returns or says ends in one bounded answer and a recorded end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, field_validator, model_serializer
from tests.conftest import World

from coilclaw.bridge.invocation import BadOutput, serialised
from coilclaw.policy import ApprovalStore, Autonomy
from coilclaw.sdk import Forbid, Risk, ToolContext, ToolFailure, define_tool
from coilclaw.sdk.errors import RESERVED_CODES
from coilclaw.sdk.testing import call_tool


class Mute(Exception):
    """An exception without a text."""

    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


class Insisting(Exception):
    def __str__(self) -> str:
        raise KeyboardInterrupt


class Odd:
    def __str__(self) -> str:
        raise ValueError("odd")


class Liar(ToolFailure):
    """A failure whose attributes are not what they were."""

    @property
    def message(self) -> str:
        raise SystemExit

    @message.setter
    def message(self, value: str) -> None:
        return None


def _failure(code: Any = "tool_failed", message: Any = "no", hint: Any = None) -> ToolFailure:
    return ToolFailure(message, code=code, hint=hint)


RAISED: dict[str, tuple[Callable[[], BaseException], str]] = {
    "a failure about an exception": (lambda: _failure(message=OSError(2, "gone")), "tool_failed"),
    "a failure without a text": (lambda: _failure(message=Odd()), "tool_failed"),
    "a failure with a lone surrogate": (lambda: _failure(message="\ud800", hint="\udfff"), "tool_failed"),
    "a failure with bytes and numbers": (lambda: _failure(message=b"\xff", hint=3), "tool_failed"),
    "a failure of ten megabytes": (lambda: _failure(message="x" * 10**7, hint="y" * 10**7), "tool_failed"),
    "a code that is a number": (lambda: _failure(code=5), "tool_failed"),
    "a code that is a list": (lambda: _failure(code=["a"]), "tool_failed"),
    "a code that is a sentence": (lambda: _failure(code="not a code\n"), "tool_failed"),
    "a code with a lone surrogate": (lambda: _failure(code="\ud800"), "tool_failed"),
    "a failure that lies": (lambda: Liar("x"), "tool_failed"),
    "no text": (Mute, "tool_crashed"),
    "an interrupt for a text": (Insisting, "tool_crashed"),
    "a lone surrogate": (lambda: ValueError("\ud800"), "tool_crashed"),
    "an exit": (lambda: SystemExit(3), "tool_crashed"),
    "an interrupt": (KeyboardInterrupt, "tool_crashed"),
    "a cancellation": (asyncio.CancelledError, "tool_crashed"),
    "the end of a generator": (GeneratorExit, "tool_crashed"),
    "the end of an iteration": (lambda: StopIteration(1), "tool_crashed"),
    "a group": (lambda: BaseExceptionGroup("g", [SystemExit(1), Mute()]), "tool_crashed"),
    "a class with a long name": (lambda: type("E" * 10**5, (Exception,), {})(), "tool_crashed"),
}


@pytest.mark.parametrize("how", ["plain", "awaited", "beside"])
@pytest.mark.parametrize("name", RAISED)
def test_whatever_a_handler_raises_is_one_bounded_answer(world: World, name: str, how: str) -> None:
    make, code = RAISED[name]

    @define_tool(id="a.plain", risk="read")
    def plain(ctx: ToolContext) -> int:
        raise make()

    @define_tool(id="a.awaited", risk="read")
    async def awaited(ctx: ToolContext) -> int:
        raise make()

    bridge = world.bridge(plain, awaited)
    if how == "beside":
        bridge.begin("a.plain", b"{}", 1)
        ((_, text),) = json.loads(bridge.wait(None))
        answer = json.loads(text)
    else:
        answer = json.loads(bridge.call(f"a.{how}", b"{}", 1))
    bridge.close()
    assert not answer["ok"]
    assert answer["code"] == code
    assert len(answer["message"]) < 2100
    assert len(answer["hint"] or "") < 2100
    assert world.types() == ["tool.call.requested", "tool.call.started", "tool.call.failed"]
    assert world.log.verify().ok


class Recursive(BaseModel):
    me: Any = None


class Unwritable(BaseModel):
    @model_serializer
    def write(self) -> dict[str, int]:
        raise Mute


def _deep() -> Any:
    value: Any = 1
    for _ in range(5000):
        value = [value]
    return value


def _circle() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


class Hostile(dict[str, int]):
    def __eq__(self, other: object) -> bool:
        raise Mute

    __hash__ = None

    def __getattr__(self, name: str) -> Any:
        raise Mute


def _generator() -> Iterator[int]:
    yield 1


async def _coroutine() -> int:
    return 1


RETURNED: dict[str, tuple[Callable[[], Any], set[str]]] = {
    "not a number": (lambda: float("nan"), {"invalid_output"}),
    "infinity, inside": (lambda: {"a": [None, {"b": float("-inf")}]}, {"invalid_output"}),
    "five thousand digits": (lambda: 10**5000, {"invalid_output"}),
    "five thousand digits, inside": (lambda: {"n": [10**5000]}, {"invalid_output"}),
    "a lone surrogate": (lambda: "\ud800", {"invalid_output"}),
    "a key with a lone surrogate": (lambda: {"\ud800": 1}, {"invalid_output"}),
    "a circle": (_circle, {"invalid_output", "tool_crashed"}),
    "a depth of five thousand": (_deep, {"invalid_output", "tool_crashed"}),
    "a generator": (_generator, {"invalid_output"}),
    "a coroutine": (_coroutine, {"invalid_output"}),
    "an object": (object, {"invalid_output"}),
    "a serialiser that raises": (Unwritable, {"invalid_output", "tool_crashed"}),
    "a hostile dict": (lambda: Hostile(a=1), {"invalid_output", "tool_crashed"}),
    "thirty megabytes": (lambda: "x" * 30_000_000, {"output_too_large"}),
}


@pytest.mark.parametrize("before", [0, 1, 62, 63, 64, 65, 2150, 4200, 4290, 4299, 4300, 4301, 8000, 9000])
def test_a_number_with_too_many_digits_is_found_wherever_it_lies(before: int) -> None:
    @define_tool(id="a.plain", risk="read")
    def plain(ctx: ToolContext, digits: int) -> Any:
        return ["x" * before, 10 ** (digits - 1), "y" * (before % 7)]

    context = ToolContext(workspace=Path())
    assert len(serialised(plain, plain(context, digits=4300))) > 4300
    with pytest.raises(BadOutput, match="4300 digits"):
        serialised(plain, plain(context, digits=4301))


@pytest.mark.parametrize("is_async", [False, True], ids=["plain", "async"])
@pytest.mark.parametrize("name", RETURNED)
def test_a_value_that_no_snippet_can_read_is_no_value(world: World, name: str, is_async: bool) -> None:
    make, codes = RETURNED[name]

    @define_tool(id="a.plain", risk="read")
    def plain(ctx: ToolContext) -> Any:
        return make()

    @define_tool(id="a.awaited", risk="read")
    async def awaited(ctx: ToolContext) -> Any:
        return make()

    bridge = world.bridge(plain, awaited)
    answer = json.loads(bridge.call("a.awaited" if is_async else "a.plain", b"{}", 1))
    bridge.close()
    assert answer["code"] in codes, answer
    assert world.types()[-1] == "tool.call.failed"


@pytest.mark.parametrize("value", [None, 1.5, 2**200, {"a": None, "b": [1, "NaN", "Infinity"]}, "null", [None] * 2000])
def test_ordinary_values_pass(world: World, value: Any) -> None:
    @define_tool(id="a.plain", risk="read")
    def plain(ctx: ToolContext) -> Any:
        return value

    assert json.loads(world.bridge(plain).call("a.plain", b"{}", 1)) == {"ok": True, "value": value}


@pytest.mark.parametrize(
    "opinion",
    [
        lambda: Forbid(reason="\ud800"),
        lambda: Forbid(reason=Odd()),  # type: ignore[arg-type]
        lambda: Forbid(reason=5),  # type: ignore[arg-type]
        lambda: Forbid(reason="x" * 10**7),
        lambda: "no risk at all",
        Odd,
    ],
)
def test_whatever_a_classifier_says_is_a_denial_that_can_be_read(world: World, opinion: Callable[[], Any]) -> None:
    @define_tool(id="a.b", risk="read", classify=lambda input, ctx: opinion())
    def tool(ctx: ToolContext) -> int:
        return 1

    answer = json.loads(world.bridge(tool).call("a.b", b"{}", 1))
    assert answer["code"] == "denied"
    assert len(answer["message"]) < 2100
    assert world.types() == ["tool.call.requested", "tool.call.denied"]


@pytest.mark.parametrize("name", [name for name, (_, code) in RAISED.items() if code == "tool_crashed"])
def test_whatever_a_classifier_raises_is_a_denial(world: World, name: str) -> None:
    make = RAISED[name][0]

    def judge(input: Any, ctx: ToolContext) -> Risk:
        raise make()

    @define_tool(id="a.b", risk="read", classify=judge)
    def tool(ctx: ToolContext) -> int:
        return 1

    assert json.loads(world.bridge(tool).call("a.b", b"{}", 1))["code"] == "denied"


@pytest.mark.parametrize(
    "problem",
    [
        Mute,
        lambda: ValueError(Odd()),
        lambda: ValueError("\ud800"),
        lambda: AssertionError(Mute()),
        SystemExit,
        Insisting,
    ],
)
def test_whatever_a_validator_raises_is_a_refusal(world: World, problem: Callable[[], BaseException]) -> None:
    class Input(BaseModel):
        x: int = 1

        @field_validator("x")
        @classmethod
        def check(cls, value: int) -> int:
            raise problem()

    def handle(input: Any, ctx: ToolContext) -> int:
        return 1

    tool = define_tool(id="a.b", risk="read", input=Input, handler=handle)
    answer = json.loads(world.bridge(tool).call("a.b", b'{"x":1}', 1))
    assert answer["code"] in ("invalid_input", "tool_crashed")
    assert world.types() == ["tool.call.requested", "tool.call.failed"]


def test_a_run_goes_on_after_a_failure_that_has_no_text(world: World) -> None:
    @define_tool(id="x.r", risk="read")
    def r(ctx: ToolContext) -> str:
        try:
            raise OSError(2, "gone")
        except OSError as error:
            raise ToolFailure(error)  # type: ignore[arg-type] # noqa: B904

    report = world.run("e = tools.x.r().error\n(e.code, 'gone' in e.message)", r)
    assert (report.status, report.value) == ("completed", ["tool_failed", True]), report.error


def test_a_call_that_crashes_beside_the_run_does_not_hold_up_its_suspension(world: World) -> None:
    @define_tool(id="x.r", risk="read")
    def r(ctx: ToolContext) -> str:
        raise Mute

    @define_tool(id="x.w", risk="write")
    def w(ctx: ToolContext) -> str:
        return "written"

    world.autonomy = Autonomy.SUPERVISED
    database = world.log._database
    world.options |= {"database": database, "approvals": ApprovalStore(database, world.log)}
    report = world.run("tools.x.r.start()\ntools.x.w()", r, w, seconds=20)
    assert report.status == "suspended", report.error
    assert report.duration_ms < 15_000
    assert len(world.options["approvals"].list("pending")) == 1


@pytest.mark.parametrize("code", sorted(RESERVED_CODES))
def test_a_tool_cannot_speak_with_the_codes_of_the_runtime(world: World, code: str) -> None:
    @define_tool(id="a.b", risk="read")
    def tool(ctx: ToolContext) -> int:
        failure = ToolFailure("no")
        failure.code = code  # Whatever the constructor may have looked at.
        raise failure

    assert json.loads(world.bridge(tool).call("a.b", b"{}", 1))["code"] == f"tool_{code}"
    assert world.log.latest(1)[0].payload["code"] == f"tool_{code}"
    error = call_tool(tool).error
    assert error is not None
    assert error.code == f"tool_{code}"


def test_every_code_that_the_runtime_uses_is_reserved() -> None:
    import re
    from pathlib import Path

    import coilclaw.bridge

    used: set[str] = set()
    for file in Path(str(coilclaw.bridge.__file__)).parent.glob("*.py"):
        for call in re.findall(r"Refusal\(.*?\)", file.read_text(), re.DOTALL):
            used |= set(re.findall(r'code="(\w+)"', call))
    assert used - RESERVED_CODES == set()
    assert "unknown_outcome" in used


@pytest.mark.parametrize("engine_name", ["wasm", "restricted"])
def test_an_argument_may_be_called_self(world: World, engine_name: str) -> None:
    @define_tool(id="x.y", risk="read")
    def y(ctx: ToolContext, self: int) -> int:
        return self + 1

    @define_tool(id="x.z", risk="read")
    def z(ctx: ToolContext, a: int = 1) -> int:
        return a

    source = "t = tools\n[t.x.y(self=1).value, t.x.y.start(self=2).result().value, t.x.z(**{'self': 1}).error.code]"
    if engine_name == "restricted":
        from coilclaw.sandbox.restricted import RestrictedEngine

        world.engine = RestrictedEngine()  # type: ignore[assignment]
    try:
        report = world.run(source, y, z)
    finally:
        if engine_name == "restricted":
            world.engine.close()
    assert (report.status, report.value) == ("completed", [2, 3, "invalid_input"]), report.error


def test_a_lone_surrogate_in_a_tool_name_is_an_unknown_tool(world: World) -> None:
    bridge = world.bridge()
    for name in ("\ud800", "a.\udfffb", "\ud800" * 10_000):
        answer = json.loads(bridge.call(name, b"{}", 1))
        assert answer["code"] == "unknown_tool"
    bridge.begin("\ud800", b"{}", 1)
    ((_, text),) = json.loads(bridge.wait(None))
    assert json.loads(text)["code"] == "unknown_tool"
    assert world.log.verify().ok
