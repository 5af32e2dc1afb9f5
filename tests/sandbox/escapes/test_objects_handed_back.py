"""What a tool returns is data on the other side, or a failure."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from pydantic import BaseModel
from tests.conftest import World
from tests.sandbox.escapes.conftest import Arena, payloads_of

from coilclaw.sandbox.escapes import Payload
from coilclaw.sdk import ToolContext, define_tool

SECRET = "what-only-the-host-knows"


@pytest.mark.req("R4", "R21", "R29")
@payloads_of("objects handed back")
def test_an_object_of_the_host_stays_there(arena: Arena, payload: Payload) -> None:
    arena.holds(payload)


class Public(BaseModel):
    name: str


class Private(Public):
    password: str


async def _stream() -> AsyncIterator[str]:
    yield SECRET


class Shown(str):
    def __repr__(self) -> str:
        return SECRET

    __str__ = __repr__


RETURNED: dict[str, tuple[Any, Callable[[], Any]]] = {
    "a generator for a list": (list[str], lambda: (SECRET for _ in range(1))),
    "an asynchronous generator": (Any, _stream),
    "a set with an object in it": (Any, lambda: {object(): SECRET}),
    "a number that JSON has not": (float, lambda: float("nan")),
    "text for a number": (int, lambda: "1"),
    "an exception for text": (str, lambda: ValueError(SECRET)),
    "a class": (Any, lambda: type("Holder", (), {"secret": SECRET})),
}


@pytest.mark.req("R21", "R29")
@pytest.mark.parametrize(("output", "give"), RETURNED.values(), ids=RETURNED.keys())
def test_what_the_contract_does_not_allow_is_an_error_value(world: World, output: Any, give: Callable[[], Any]) -> None:
    @define_tool(id="giving.it", risk="read", output=output)
    def giving(ctx: ToolContext) -> Any:
        return give()

    report = world.run("r = tools.giving.it()\n[r.ok, r.unwrap_or(None), str(r)]", giving)
    ok, value, text = report.value
    assert (ok, value) in ((False, None), (True, None))
    assert SECRET not in text
    assert world.types()[-1] == ("tool.call.failed" if not ok else "tool.call.succeeded")


@pytest.mark.req("R29")
def test_a_model_shows_the_fields_of_its_contract_only(world: World) -> None:
    @define_tool(id="giving.it", risk="read", output=Public)
    def giving(ctx: ToolContext) -> Any:
        return Private(name="ada", password=SECRET)

    report = world.run("r = tools.giving.it()\n[r.unwrap_or(None), str(r)]", giving)
    assert SECRET not in str(report.value)
    assert report.value[0] in (None, {"name": "ada"})
