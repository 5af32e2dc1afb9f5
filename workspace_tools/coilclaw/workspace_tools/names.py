"""Names and words that come from elsewhere, as they can be used and shown here."""

from __future__ import annotations

import importlib.util
import inspect
import pkgutil
import re
import unicodedata
from keyword import iskeyword
from typing import Final

__all__ = ["action_name", "installed_integrations", "shown_text"]

_LONGEST_ACTION: Final = 64


def action_name(text: str) -> str:
    """The name under which a tool called `text` elsewhere is callable here; empty if nothing of it can be used.

    The same text always gives the same name: `get-current-time` is `get_current_time`.
    """
    name = re.sub(r"[^A-Za-z0-9_]+", "_", text[: 4 * _LONGEST_ACTION]).strip("_")[:_LONGEST_ACTION]
    if not name:
        return ""
    if not name[0].isalpha():
        name = f"tool_{name}"
    # `tools.x.start` begins a parallel call.
    return f"{name}_" if iskeyword(name) or name == "start" else name


def shown_text(text: str, limit: int) -> str:
    """Text for a model and a person to read: bounded, and without characters that cannot be seen."""
    kept = "".join(
        char
        for char in text[: 2 * limit]
        if char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cf", "Co", "Cs")
    )
    kept = inspect.cleandoc(kept)
    return kept if len(kept) <= limit else kept[: limit - 1] + "…"


def installed_integrations() -> set[str]:
    """Names that are taken: what policy says about an integration must not cover tools from elsewhere."""
    spec = importlib.util.find_spec("coilclaw.integrations")
    return (
        {found.name for found in pkgutil.iter_modules(list(spec.submodule_search_locations or ()))} if spec else set()
    )
