"""`coilclaw sandbox`: what the engines of this machine withstand."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click

from coilclaw.app import Engines
from coilclaw.cli.opening import settings_for, terminal_notices
from coilclaw.cli.terminal import say, say_json, say_progress
from coilclaw.config import Settings
from coilclaw.sandbox import EngineUnavailable, escapes
from coilclaw.scorecard import ClassScore, Scorecard, proving_ground, score
from coilclaw.sdk.legible import one_line

__all__ = ["sandbox"]

_ENGINES: Final = ("wasm", "restricted")
_SETTLE_AFTER: Final = 10
_QUIET_SECONDS: Final = 1.0
_BAR: Final = 24


@click.group()
def sandbox() -> None:
    """Try the sandbox engines of this machine.

    \b
    Example:
      coilclaw sandbox scorecard
      coilclaw sandbox scorecard --engine wasm --json
    """


@sandbox.command("scorecard", epilog="Example: coilclaw sandbox scorecard --engine wasm")
@click.option(
    "--engine", type=click.Choice([*_ENGINES, "all"]), default="all", show_default=True, help="The engine to try."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
def scorecard(engine: str, as_json: bool) -> None:
    """Run every known escape in the sandbox and show what held it.

    Secrets are put into the environment, a file, a socket and the tools' own objects first; a payload
    has escaped if one of them comes out or is touched. Exit codes: 0 everything held; 1 something
    escaped; 2 no engine could be tried.
    """
    settings = settings_for()
    cards: list[Scorecard] = []
    unavailable: dict[str, EngineUnavailable] = {}
    for name in _ENGINES if engine == "all" else (engine,):
        try:
            with _silent_log():
                cards.append(_tried(name, settings))
        except EngineUnavailable as error:
            unavailable[name] = error
    if not cards:
        raise next(iter(unavailable.values()))
    if as_json:
        reasons = {name: reason.message for name, reason in unavailable.items()}
        say_json({"engines": [card.as_data() for card in cards], "unavailable": reasons})
    else:
        for card in cards:
            _print(card)
        for name, reason in unavailable.items():
            say(f"{name} was not tried: {one_line(reason.message)}", err=True, fg="yellow")
    sys.exit(0 if all(card.ok for card in cards) else 1)


@contextmanager
def _silent_log() -> Iterator[None]:
    """What payloads do to an engine is the scorecard's to say, not the log's."""
    logger = logging.getLogger("coilclaw")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def _tried(name: str, settings: Settings) -> Scorecard:
    classes = escapes.read_corpus()
    bar = _Bar(name, sum(len(each.payloads) for each in classes))
    with (
        tempfile.TemporaryDirectory(prefix="coilclaw-scorecard-") as folder,
        proving_ground(Path(folder), os.environ, settle_after=_SETTLE_AFTER) as ground,
    ):
        try:
            # A fresh one each time: closing it is part of the trial.
            return score(ground, lambda: Engines(settings, notices=terminal_notices()).get(name), classes, bar.show)
        finally:
            bar.clear()


class _Bar:
    """How far it has come, for a person who has waited a moment already."""

    def __init__(self, engine: str, payloads: int) -> None:
        self._engine = engine
        self._payloads = payloads
        self._began = time.monotonic()
        self._shown = False

    def show(self, done: int) -> None:
        if sys.stderr.isatty() and time.monotonic() - self._began > _QUIET_SECONDS:
            bar = "█" * (_BAR * done // self._payloads)
            say_progress(f"Trying {self._engine} [{bar:<{_BAR}}] {done}/{self._payloads}")
            self._shown = True

    def clear(self) -> None:
        if self._shown:
            say_progress("")


def _print(card: Scorecard) -> None:
    say(f"{card.engine}: {card.build}", bold=True)
    rows = [("class", "payloads", "held", "held by"), *(_row(each) for each in card.classes)]
    total = len(card.verdicts)
    rows.append(("total", str(total), str(total - len(card.escaped)), ""))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        title, payloads, held, layers = row
        say(f"{title:<{widths[0]}}  {payloads:>{widths[1]}}  {held:>{widths[2]}}  {layers}".rstrip())
    for line in _escapes(card):
        say(one_line(line), fg="red")
    say()


def _row(row: ClassScore) -> tuple[str, str, str, str]:
    layers = ", ".join(f"{layer.value} {count}" for layer, count in row.layers.items())
    return row.title, str(row.payloads), str(row.held), layers


def _escapes(card: Scorecard) -> Sequence[str]:
    escaped = [
        f"{'ESCAPED' if verdict.findings else 'UNEXPECTED'}  {verdict.payload}: {'; '.join(verdict.problems)}"
        for verdict in card.escaped
    ]
    return [*escaped, *(f"LEFT  {finding}" for finding in card.left)]
