"""A response that lasts, such as an event stream: it ends soon after its sender counts no longer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from starlette.types import Message, Send

__all__ = ["SenderGone", "while_valid"]

_LOOK_SECONDS: Final = 5.0
"""How long a sender is taken to be the same; an idle stream sends a sign of life every 15 seconds."""


class SenderGone(OSError):
    """The sender of a request was revoked, expired or signed out while it was answered."""


def while_valid(send: Send, is_valid: Callable[[], Awaitable[bool]]) -> Send:
    """Return a `send` that ends a response in pieces before a piece that its sender may no longer get."""
    looked: float | None = None

    async def send_while_valid(message: Message) -> None:
        nonlocal looked
        now = asyncio.get_running_loop().time()
        if looked is None:
            looked = now
        elif message.get("more_body") and now - looked >= _LOOK_SECONDS:
            if not await is_valid():
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                raise SenderGone("the sender counts no longer")
            looked = now
        await send(message)

    return send_while_valid
