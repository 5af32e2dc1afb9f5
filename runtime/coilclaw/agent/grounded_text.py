"""Placeholder until grounding lands: text passes as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coilclaw.sdk.frozen import Frozen

__all__ = ["GroundedText", "Grounded"]


class Grounded(Frozen):
    """A text after its check: what was released, what was held back, and its claims."""

    released: str
    held: str = ""
    claims: tuple[Any, ...] = ()


class GroundedText:
    """Releases text as it is checked."""

    def __init__(self, evidence: Any, release: Callable[[str], None]) -> None:
        self._release = release
        self._text = ""

    def feed(self, text: str) -> None:
        self._text += text
        self._release(text)

    def end(self) -> Grounded:
        return Grounded(released=self._text)
