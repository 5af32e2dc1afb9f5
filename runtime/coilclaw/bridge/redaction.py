"""Keeping declared secrets out of everything that leaves a tool."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

__all__ = ["Redaction"]

_SHORTEST: Final = 4
"""Replacing shorter values would garble ordinary text; such a value protects nothing anyway."""


class Redaction:
    """Replaces the values of one call's secrets by their names, in text and in JSON.

    It finds the value as it is and as JSON writes it; a value that a tool encodes in another way
    (reversed, base64, split) is not recognised.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        # Longest first, so that a secret that contains another is replaced whole.
        ordered = sorted(secrets.items(), key=lambda item: -len(item[1]))
        self._values = [(value, f"[secret {name}]") for name, value in ordered if len(value) >= _SHORTEST]
        self._json = [
            (form, mark.encode())
            for value, mark in self._values
            for form in {json.dumps(value)[1:-1].encode(), json.dumps(value, ensure_ascii=False)[1:-1].encode()}
        ]

    def text(self, text: str) -> str:
        for value, mark in self._values:
            text = text.replace(value, mark)
        return text

    def json(self, data: bytes) -> bytes:
        for value, mark in self._json:
            data = data.replace(value, mark)
        return data


NOTHING_SECRET: Final = Redaction({})
