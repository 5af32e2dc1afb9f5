"""Placeholder until grounding lands: text passes as it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from coilclaw.sdk.frozen import Frozen

__all__ = ["Grounded", "GroundedText", "action_section"]


class Grounded(Frozen):
    """A text after its check: what was released, and what it claims."""

    released: str
    claims: tuple[Any, ...] = ()
    unsupported: tuple[Any, ...] = ()


class GroundedText:
    """Releases text as it is checked."""

    def __init__(
        self, evidence: Any, release: Callable[[str], None], *, labels: bool = False, after: Grounded | None = None
    ) -> None:
        self._release = release
        self._text = "" if after is None else after.released

    def feed(self, text: str) -> None:
        self._text += text
        self._release(text)

    def end(self) -> Grounded:
        return Grounded(released=self._text)

    def summary(self) -> Grounded:
        return Grounded(released=self._text)


def action_section(evidence: Sequence[Any]) -> str:
    return "\n".join(f"{each.status}: {each.summary or each.tool_id}" for each in evidence)
