"""The one handler of all loggers: it takes secrets out, and writes one line for each record."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Mapping
from typing import Any, Final

from coilclaw.cli.logs import LogChoice
from coilclaw.cli.logs.secrets import Secrets
from coilclaw.cli.terminal import say, say_wrapped
from coilclaw.sdk.legible import as_name, one_line

__all__ = ["StderrHandler", "use_handler"]

_LONGEST_FACT: Final = 300
_LONGEST_TEXT: Final = 4000
_COLOURS: Final = {"warning": "yellow", "error": "red", "critical": "red"}


def use_handler(choice: LogChoice) -> StderrHandler:
    """Send what all loggers say to stderr: ours from the chosen level on, those of libraries from `warning` on."""
    root, ours = logging.getLogger(), logging.getLogger("coilclaw")
    ours.setLevel(choice.level.upper())
    root.setLevel(logging.WARNING)
    for each in root.handlers[:]:
        if isinstance(each, StderrHandler):
            root.removeHandler(each)
    made = StderrHandler(choice, Secrets(os.environ))
    root.addHandler(made)
    return made


class StderrHandler(logging.Handler):
    """Writes records to stderr. A record that cannot be written is dropped: a log never ends a command."""

    def __init__(self, choice: LogChoice, secrets: Secrets) -> None:
        super().__init__()
        self._choice = choice
        self._secrets = secrets

    def emit(self, record: logging.LogRecord) -> None:
        try:
            event, facts = _event_of(record)
            facts = self._secrets.removed(facts)
            event = self._secrets.removed(event)
            if self._choice.as_json:
                self._write_json(record, event, facts)
            else:
                self._write(record, event, facts)
        except Exception:
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        return

    def _write_json(self, record: logging.LogRecord, event: str, facts: Mapping[str, Any]) -> None:
        moment = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(record.created))}.{int(record.msecs):03d}Z"
        line = {"ts": moment, "level": record.levelname.lower(), "event": event, "facts": facts}
        say(json.dumps(line, default=str), err=True)

    def _write(self, record: logging.LogRecord, event: str, facts: Mapping[str, Any]) -> None:
        level = record.levelname.lower()
        said = "  ".join([one_line(event, _LONGEST_TEXT), *(f"{key}={_shown(each)}" for key, each in facts.items())])
        if self._choice.has_events:
            clock = time.strftime("%H:%M:%S", time.localtime(record.created))
            say(f"{clock} {level:<7} {said}", err=True, fg=_COLOURS.get(level))
        else:
            say_wrapped(f"{level.capitalize()}: ", said, err=True, fg=_COLOURS.get(level))


def _event_of(record: logging.LogRecord) -> tuple[str, dict[str, Any]]:
    """The name of an event and its facts; a message of any other kind, and what was raised, are facts too."""
    facts = getattr(record, "event", None)
    if isinstance(facts, Mapping):
        return record.getMessage(), {key: each for key, each in facts.items() if each is not None}
    said: dict[str, Any] = {"logger": record.name}
    if record.exc_info and record.exc_info[1] is not None:
        said["error"] = type(record.exc_info[1]).__name__
        said["traceback"] = logging.Formatter().formatException(record.exc_info)[-_LONGEST_TEXT:]
    return record.getMessage()[:_LONGEST_TEXT], said


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return as_name(text, _LONGEST_FACT) if isinstance(value, str) else one_line(text, _LONGEST_FACT)
