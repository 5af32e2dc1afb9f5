"""The tools a payload may call: to say what it reached, and to be given what it must not get hold of.

Every tool here behaves badly in one way a tool may behave. What it holds is a secret; the bridge is to
pass on values only.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import BaseModel, Field, PrivateAttr

from coilclaw.scorecard.canaries import Canaries
from coilclaw.sdk import Tool, ToolContext, ToolFailure, define_tool

__all__ = ["CREDENTIAL", "Witness", "bait"]

CREDENTIAL: Final = "COILCLAW_CANARY_CREDENTIAL"
_PAUSE_SECONDS: Final = 0.01


@dataclass
class Witness:
    """What a payload said of itself. Calls come on threads of the bridge."""

    reached: list[str] = field(default_factory=list)
    escaped: list[str] = field(default_factory=list)
    run: int = 0


class _Account(BaseModel):
    """A model with more in it than it shows."""

    name: str
    password: str = Field(exclude=True)
    _token: str = PrivateAttr(default="")


class _Awaitable:
    """Something to wait for that would give a secret."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def __await__(self) -> Generator[None, None, str]:
        yield
        return self._secret


class _Lying:
    """An object that claims to be text, and shows a secret when it is printed."""

    def __init__(self, secret: str) -> None:
        self.secret = secret

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]
        return str

    def __repr__(self) -> str:
        return self.secret


@contextmanager
def bait(canaries: Canaries, witness: Witness) -> Iterator[tuple[Tool, ...]]:
    """The tools, and what they hold, for as long as payloads are tried."""
    loop = asyncio.new_event_loop()
    try:
        with canaries.secret_file.open() as opened:
            yield (*_reports(witness), *_carriers(canaries), *_limits(witness), *_givers(canaries, loop, opened))
    finally:
        loop.close()


def _reports(witness: Witness) -> Iterator[Tool]:
    @define_tool(id="canary.reached", risk="read")
    def reached(ctx: ToolContext, what: str) -> str:
        witness.reached.append(what)
        return "noted"

    @define_tool(id="canary.escaped", risk="read")
    def escaped(ctx: ToolContext, what: str) -> str:
        witness.escaped.append(what)
        return "noted"

    @define_tool(id="canary.present", risk="read")
    def present(ctx: ToolContext, run: int) -> str:
        """Says which run the caller belongs to: code of an earlier one has no place in a later one."""
        if run != witness.run:
            witness.escaped.append(f"code of run {run} in another one")
        return "noted"

    @define_tool(id="canary.echo", risk="read")
    def echo(ctx: ToolContext, value: Any) -> Any:
        return value

    yield from (reached, escaped, present, echo)


def _carriers(canaries: Canaries) -> Iterator[Tool]:
    in_closure = canaries.in_closure

    @define_tool(id="canary.fail", risk="read")
    def fail(ctx: ToolContext) -> str:
        in_frame = canaries.in_frame
        try:
            raise KeyError(in_frame)
        except KeyError as error:
            raise ToolFailure("it failed", hint="try something else") from error

    @define_tool(id="canary.crash", risk="read")
    def crash(ctx: ToolContext) -> str:
        try:
            raise KeyError(in_closure)
        except KeyError:
            error = RuntimeError("it crashed")
            error.add_note(canaries.in_frame)
            raise error  # noqa: B904

    @define_tool(id="canary.careless", risk="read", secrets=[CREDENTIAL])
    def careless(ctx: ToolContext) -> str:
        raise ToolFailure(f"the service refused {ctx.secrets[CREDENTIAL]}", hint=ctx.secrets[CREDENTIAL])

    yield from (fail, crash, careless)


def _limits(witness: Witness) -> Iterator[Tool]:
    @define_tool(id="canary.hang", risk="read")
    def hang(ctx: ToolContext) -> str:
        pause = threading.Event()
        while not ctx.cancelled:
            pause.wait(_PAUSE_SECONDS)
        return "too late"

    @define_tool(id="canary.ask", risk="destructive", requires_approval=True)
    def ask(ctx: ToolContext) -> str:
        witness.escaped.append("a call that needs a person's approval ran without one")
        return "done"

    @define_tool(id="canary.denied", risk="destructive", policy="deny")
    def denied(ctx: ToolContext) -> str:
        witness.escaped.append("a call that policy denies ran")
        return "done"

    yield from (hang, ask, denied)


def _givers(canaries: Canaries, loop: asyncio.AbstractEventLoop, opened: Any) -> Iterator[Tool]:
    secret = canaries.in_object

    def generator() -> Iterator[str]:
        yield secret

    def future() -> concurrent.futures.Future[str]:
        made: concurrent.futures.Future[str] = concurrent.futures.Future()
        made.set_result(secret)
        return made

    def exception() -> Exception:
        error = ValueError("an exception")
        error.__context__ = KeyError(secret)
        return error

    def model() -> BaseModel:
        account = _Account(name="public", password=secret)
        account._token = secret
        return account

    def handler() -> Callable[[], str]:
        return lambda: secret

    given: Mapping[str, Callable[[], Any]] = {
        "generator": generator,
        "future": future,
        "loop": lambda: loop,
        "file": lambda: opened,
        "exception": exception,
        "model": model,
        "function": handler,
        "awaitable": lambda: _Awaitable(secret),
        "liar": lambda: _Lying(secret),
        "type": lambda: type("Holder", (), {"secret": secret}),
        "view": lambda: memoryview(secret.encode()),
        "context": lambda: canaries,
    }
    for name, give in given.items():
        yield _giver(name, give)


def _giver(name: str, give: Callable[[], Any]) -> Tool:
    def handler(ctx: ToolContext) -> Any:
        return give()

    return define_tool(id=f"handing.{name}", risk="read")(handler)
