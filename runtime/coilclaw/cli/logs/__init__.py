"""What commands log on stderr: for a person, or as JSON lines, and never a secret.

Other packages only use `logging.getLogger(__name__)`, with the name of an event as the message and its facts in
`extra={"event": …}`. Nothing is imported here before there is something to log: most commands log nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

import click

if TYPE_CHECKING:
    import logging

    from coilclaw.app import CoilClaw

__all__ = ["LogChoice", "begin_logging", "choose_logging", "log_event", "receipts_logged"]

_LEVELS: Final = ("debug", "info", "warning", "error")
_VARIABLE: Final = "COILCLAW_LOG"


class LogChoice(NamedTuple):
    """What a person wants to see."""

    level: str = "warning"
    as_json: bool = False

    @property
    def has_events(self) -> bool:
        """Whether ordinary events are logged, and not only what should not happen."""
        return self.level in ("debug", "info")


_chosen = LogChoice()


def choose_logging(verbose: int) -> None:
    """Take the choice from the variable COILCLAW_LOG and from `-v`, whichever says more."""
    global _chosen
    choice = _from_variable(os.environ.get(_VARIABLE, ""))
    asked = ("warning", "info", "debug")[min(verbose, 2)]
    level = min(choice.level, asked, _chosen.level, key=_LEVELS.index) if verbose else choice.level
    _chosen = choice._replace(level=level)
    if _chosen != LogChoice():
        _use_handler()


def _from_variable(text: str) -> LogChoice:
    level, as_json = "", False
    for word in filter(None, (each.strip().lower() for each in text.split(","))):
        if word == "json":
            as_json = True
        elif word in _LEVELS:
            level = word
        else:
            raise click.UsageError(f"{_VARIABLE} is {', '.join(_LEVELS)} or json, or both, such as json,debug")
    return LogChoice(level or ("info" if as_json else "warning"), as_json)


def begin_logging() -> None:
    """Log as it was chosen from now on. By default that is next to nothing, so the rest waits for a first record."""
    import logging

    class FirstRecord(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            _use_handler().handle(record)

    if _chosen == LogChoice():
        logging.lastResort = FirstRecord(logging.WARNING)


def _use_handler() -> logging.Handler:
    from coilclaw.cli.logs.handler import use_handler

    return use_handler(_chosen)


def log_event(name: str, **facts: object) -> None:
    """Log an ordinary event of a command."""
    if _chosen.has_events:
        import logging

        logging.getLogger("coilclaw.cli").info(name, extra={"event": facts})


@contextmanager
def receipts_logged(claw: CoilClaw) -> Iterator[None]:
    """Log every receipt that is written while this is entered, by any process of the home."""
    if not _chosen.has_events:
        yield
        return
    from coilclaw.cli.logs.receipts import ReceiptEvents

    with ReceiptEvents(claw):
        yield
