"""Answers of calls, as the bytes that a snippet receives."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from coilclaw.sdk.errors import LONGEST_MESSAGE
from coilclaw.sdk.frozen import Frozen
from coilclaw.sdk.legible import text_of

__all__ = ["TOO_MANY_ANSWERS", "Refusal", "failure", "success"]


_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Refusal(Frozen):
    """The end of a call that gives no value: what the snippet receives, and how the receipts name it.

    Message and hint may quote what a snippet or an author sent; they are made valid, bounded text here.
    """

    code: str
    message: str
    hint: str | None = None
    denied: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the receipt says besides, such as who decided and by which rule."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", text_of(self.message, LONGEST_MESSAGE))
        if self.hint is not None:
            object.__setattr__(self, "hint", text_of(self.hint, LONGEST_MESSAGE))


def success(value: bytes, plan: str = "") -> bytes:
    """The answer with a value; `plan` says which of its parts are of Python's own types (`Tool.output_plan`)."""
    return b'{"ok":true,"value":' + value + (b',"types":' + plan.encode() if plan else b"") + b"}"


def failure(refusal: Refusal) -> bytes:
    told = {"ok": False, "code": refusal.code, "message": refusal.message, "hint": refusal.hint}
    return _encode(told).encode()


TOO_MANY_ANSWERS: Final = failure(
    Refusal(
        code="output_too_large",
        message="too many answers wait to be read; the call itself was made",
        hint="read the results of calls before starting more",
    )
)
