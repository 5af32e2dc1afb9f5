"""Errors of using an app.

CoilClawError
└── OperatorError
    ├── AppClosed          the app was closed
    ├── BadArgument        a method was given something it does not take
    ├── TooManyRuns        more runs wait for their turn than are kept waiting
    └── WouldBlock         a blocking method was called on the event loop of async tools
"""

from __future__ import annotations

from typing import Final

from coilclaw.sdk import OperatorError

__all__ = ["AppClosed", "BadArgument", "TooManyRuns", "WouldBlock"]

_INSTEAD: Final = {
    "run": "await claw.start(…)",
    "result": "await handle",
    "events": "async for event in …",
}
"""What to write instead of a method that blocks, where that is not `asyncio.to_thread`."""


class AppClosed(OperatorError):
    """The app was closed; nothing can be done with it."""

    code = "app_closed"

    def __init__(self) -> None:
        super().__init__("this app is closed", hint="open another one")


class BadArgument(OperatorError):
    """A method was given something it does not take; the message says what it takes."""

    code = "bad_argument"


class TooManyRuns(OperatorError):
    """A run was not accepted, because too many wait for their turn."""

    code = "too_many_runs"

    def __init__(self, most: int) -> None:
        super().__init__(f"{most} runs wait for their turn already", hint="try again when some have ended")


class WouldBlock(OperatorError):
    """A blocking method was called on the event loop that async tools run on."""

    code = "would_block"

    def __init__(self, method: str) -> None:
        instead = _INSTEAD.get(method, f"await asyncio.to_thread(claw.{method}, …)")
        super().__init__(f"this would block the event loop that async tools run on; write `{instead}` instead")
