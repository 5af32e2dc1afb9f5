"""Errors of using an app.

CoilClawError
└── OperatorError
    ├── AppClosed
    └── WouldBlock
"""

from __future__ import annotations

from coilclaw.sdk import OperatorError

__all__ = ["AppClosed", "WouldBlock"]


class AppClosed(OperatorError):
    """The app was closed; nothing can be run with it."""

    code = "app_closed"

    def __init__(self) -> None:
        super().__init__("this app is closed", hint="open another one")


class WouldBlock(OperatorError):
    """A blocking method was called on the event loop that async tools run on."""

    code = "would_block"

    def __init__(self) -> None:
        super().__init__(
            "this would block the event loop that async tools run on",
            hint="use `await claw.start(…)`, or call it with `asyncio.to_thread`",
        )
