"""What goes back to a snippet, as bytes."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic_core import to_json

__all__ = ["Refusal", "failure", "success"]


@dataclass(frozen=True, kw_only=True)
class Refusal(Exception):
    """A call that gives no value: what the snippet is told, and how the receipts name it."""

    code: str
    message: str
    hint: str | None = None
    denied: bool = False


def success(value: bytes) -> bytes:
    return b'{"ok":true,"value":%b}' % value


def failure(refusal: Refusal) -> bytes:
    return to_json({"ok": False, "code": refusal.code, "message": refusal.message, "hint": refusal.hint})
