"""Large results, kept outside the prompt under names that later snippets of the conversation can use.

A handle names a part of a run: its value or what it printed. The part is read from the run's stored end when a snippet
names the handle, and becomes one of the snippet's inputs, which are kept with the new run: it replays without the old.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from coilclaw.runs import NoSuchRun, NotResumable
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from coilclaw.app import CoilClaw

__all__ = ["LARGE_CHARS", "Handle", "HandleLost", "handles_in", "large_text", "shape_of"]

LARGE_CHARS: Final = 4000
"""Of a result as text: more than this stays outside the prompt."""
_HEAD_CHARS: Final = 1200
_TAIL_CHARS: Final = 400
_NAME: Final = re.compile(r"\b(?:result|output)_[1-9][0-9]{0,5}\b")
_MOST_KEYS: Final = 12


class HandleLost(Exception):
    """The stored part behind a handle is no longer kept."""


class Handle(Frozen):
    """The name of a stored part of a run."""

    name: str
    run_id: str
    part: Literal["value", "stdout"]

    def facts(self) -> dict[str, str]:
        return {"name": self.name, "run_id": self.run_id, "part": self.part}

    def read(self, claw: CoilClaw, conversation: str) -> Any:
        """The whole part, from the stored end of its run. Raises HandleLost."""
        if not any(each.conversation_id == conversation for each in claw.runs.receipts(self.run_id)[:1]):
            raise HandleLost(f"{self.name} is not of this conversation")
        try:
            report = claw.runs.show(self.run_id)
        except (NoSuchRun, NotResumable):
            raise HandleLost(f"the record of {self.name} was changed") from None
        if self.part in report.unkept:
            raise HandleLost(f"{self.name} was too large to be kept")
        return report.value if self.part == "value" else report.stdout


def handles_in(code: str, known: Mapping[str, Handle]) -> Iterable[Handle]:
    """The handles that a snippet names."""
    return [known[name] for name in dict.fromkeys(_NAME.findall(code)) if name in known]


def large_text(text: str, name: Callable[[], str]) -> str:
    """Text as it is, or its beginning and end with the name under which a snippet gets all of it."""
    if len(text) <= LARGE_CHARS:
        return text
    left_out = len(text) - _HEAD_CHARS - _TAIL_CHARS
    return (
        f"{text[:_HEAD_CHARS]}\n… {left_out} of {len(text)} characters are left out here; "
        f"a snippet has all of them as `{name()}` …\n{text[-_TAIL_CHARS:]}"
    )


def shape_of(value: Any, depth: int = 2) -> str:
    """The type and size of a JSON value in a few words: `list of 400 objects with keys id, name`."""
    match value:
        case dict():
            keys = ", ".join(str(key)[:40] for key in list(value)[:_MOST_KEYS])
            more = f" and {len(value) - _MOST_KEYS} more" if len(value) > _MOST_KEYS else ""
            return f"object with keys {keys}{more}" if value else "empty object"
        case list() if value:
            inner = f" of {shape_of(value[0], depth - 1)}, the first" if depth else ""
            return f"list of {len(value)} items{inner}"
        case list():
            return "empty list"
        case str():
            return f"text of {len(value)} characters"
    return json.dumps(value)[:40]
