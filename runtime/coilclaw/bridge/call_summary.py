"""The sentence that a tool's `summary` template makes of one call, for the receipt of its success."""

from __future__ import annotations

import datetime
import decimal
import uuid
from typing import TYPE_CHECKING, Final

from coilclaw.sdk.legible import one_line

if TYPE_CHECKING:
    from coilclaw.bridge.calls import Admitted

__all__ = ["summary_facts"]

_LONGEST: Final = 300
_PLAIN: Final = frozenset(
    {str, int, float, bool, type(None), datetime.date, datetime.datetime, datetime.time, decimal.Decimal, uuid.UUID}
)
"""Types whose text is Python's own. An author's class could do anything while it is asked for one."""


def summary_facts(admitted: Admitted) -> dict[str, str]:
    """The summary of a call that may have changed something; nothing for others, or if the template has no plain text.

    What only reads is described by its arguments when it is looked at, so that it costs nothing here.
    """
    template = admitted.tool.summary
    if template is None or not admitted.durable:
        return {}
    plain = {name: value for name, value in vars(admitted.input).items() if type(value) in _PLAIN}
    try:
        text = template.format_map(plain)
    except (KeyError, ValueError, IndexError, TypeError):
        return {}
    return {"summary": one_line(admitted.redaction.text(text), _LONGEST)}
