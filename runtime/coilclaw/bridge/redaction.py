"""Keeping secrets out of everything that leaves a tool: declared ones, and what looks like a credential."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

__all__ = ["Redaction", "may_be_redacted"]

_SHORTEST: Final = 4
"""Replacing shorter values would garble ordinary text; such a value protects nothing anyway."""


_REDACTED: Final = "[redacted]"


def may_be_redacted(kept: bytes) -> bool:
    """Whether JSON may stand for another in which there were secrets: then equal JSON says nothing of equal values."""
    return b"[secret " in kept or _REDACTED.encode() in kept


class Redaction:
    """Replaces the values of one call's secrets by their names, in text and in JSON.

    It finds the value as it is and as JSON writes it; a value that a tool encodes in another way
    (reversed, base64, split) is not recognised. Text that only describes a call loses everything that looks like a
    credential, too. Arguments and results do not: what is kept of them is what was executed, and is executed again.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        # Longest first, so that a secret that contains another is replaced whole.
        ordered = sorted(secrets.items(), key=lambda item: -len(item[1]))
        self._values: list[tuple[str, str]] = []
        self._forms: list[bytes] = []
        for name, value in ordered:
            if len(value) < _SHORTEST:
                continue
            forms = {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
            self._forms += [form.encode() for form in forms]
            # Text may be JSON too, or quote some.
            self._values += [(form, f"[secret {name}]") for form in sorted({value, *forms}, key=len, reverse=True)]

    def text(self, text: str) -> str:
        """A text that nothing is executed from: a message, a summary, a turn of a conversation."""
        from coilclaw.sdk.credential_shapes import without_credentials  # Few calls have such text.

        return without_credentials(self.named(text))

    def named(self, text: str) -> str:
        """A text with the names of declared secrets in place of their values, and otherwise as it is."""
        for value, mark in self._values:
            text = text.replace(value, mark)
        return text

    def json(self, data: bytes) -> bytes:
        """The same JSON without the secrets; parsed only if one of them is in it."""
        if not self._forms or not any(form in data for form in self._forms):
            return data
        try:
            value = self._walk(json.loads(data))
        except (ValueError, RecursionError):
            value = _REDACTED
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()

    def _walk(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.named(value)
        if isinstance(value, dict):
            return {self.named(key): self._walk(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._walk(item) for item in value]
        if isinstance(value, int | float) and not isinstance(value, bool):
            shown = json.dumps(value)
            return value if self.named(shown) == shown else self.named(shown)
        return value


NOTHING_SECRET: Final = Redaction({})
