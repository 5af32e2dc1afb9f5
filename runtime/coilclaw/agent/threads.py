"""Blocking work of an exchange on a thread, which is never left behind half done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

__all__ = ["finished"]

R = TypeVar("R")


async def finished(work: Callable[[], R], cancel: Callable[[], None] = lambda: None) -> R:
    """Do blocking work on a thread and return its result.

    Whoever is cancelled meanwhile calls `cancel`, and still waits until the work has ended: what it writes is
    complete, and nothing of it comes after what is done next.
    """
    future = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        while not future.done():
            cancel()
            try:
                await asyncio.wait([future])
            except asyncio.CancelledError:
                continue
        raise
