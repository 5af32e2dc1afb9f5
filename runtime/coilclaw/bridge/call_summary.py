"""The sentence that a tool's `summary` template makes of one call, for the receipt of its success."""

from __future__ import annotations

import datetime
import decimal
import json
import re
import uuid
from typing import TYPE_CHECKING, Any, Final

from coilclaw.sdk.legible import one_line, quoted

if TYPE_CHECKING:
    from coilclaw.bridge.calls import Admitted

__all__ = ["summary_facts"]

_LONGEST: Final = 300
_PLAIN: Final = frozenset(
    {str, int, float, bool, type(None), datetime.date, datetime.datetime, datetime.time, decimal.Decimal, uuid.UUID}
)
"""Types whose text is Python's own. An author's class could do anything while it is asked for one."""
_WORD: Final = re.compile(r"[\w@./:+#%~-]{1,120}")
"""A text that is shown as it is. Any other stands in quotation marks: it could go on as the template does."""
_LONGEST_VALUE: Final = 120


def summary_facts(admitted: Admitted) -> dict[str, str]:
    """The summary of a call that may have changed something; nothing for others, or if the template has no plain text.

    What only reads is described by its arguments when it is looked at, so that it costs nothing here.
    """
    template = admitted.tool.summary
    if template is None or not admitted.durable:
        return {}
    plain = {name: _shown(value) for name, value in vars(admitted.input).items() if type(value) in _PLAIN}
    try:
        text = template.format_map(plain)
    except (KeyError, ValueError, IndexError, TypeError):
        return {}
    return {"summary": one_line(admitted.redaction.text(text), _LONGEST)}


def _shown(value: Any) -> Any:
    if type(value) is not str or _WORD.fullmatch(value):
        return value
    return quoted(json.dumps(value, ensure_ascii=False), _LONGEST_VALUE)
