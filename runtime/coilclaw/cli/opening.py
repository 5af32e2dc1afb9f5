"""Opening the app for one command: its settings, its environment, and what it says on the terminal meanwhile."""

from __future__ import annotations

import os
import pwd
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from coilclaw.cli.logs import begin_logging, log_event, receipts_logged
from coilclaw.cli.terminal import say, say_progress, warn
from coilclaw.config import load_settings
from coilclaw.sdk import OperatorError
from coilclaw.sdk.legible import as_name, one_line

if TYPE_CHECKING:  # The configuration alone is all that some commands need.
    from coilclaw.app import CoilClaw, Notices
    from coilclaw.bridge import Registry
    from coilclaw.config import Settings
    from coilclaw.sandbox import Deadline

__all__ = [
    "expanded",
    "load_registry",
    "open_app",
    "settings_for",
    "show_diagnostics",
    "terminal_notices",
    "this_person",
]

_SHORTEST_WAIT: Final = 3.0
"""Seconds for another process to finish writing: also a run whose time is up writes its end."""
_TELL_SECONDS: Final = 10.0
"""Between two lines about the compilation, where no terminal can show a bar."""


def expanded(text: str) -> Path:
    """A path from the command line, with `~` replaced."""
    try:
        place = Path(text).expanduser()
        place.exists()  # Too long, or with characters no path can have.
        return place
    except (RuntimeError, OSError, ValueError) as error:
        raise OperatorError(f"{text[:200]!r} cannot be a path: {error}") from None


def settings_for(workspace: str | None = None, **overrides: Any) -> Settings:
    """The configuration, with what the command line says on top."""
    given = {key.replace("__", "."): value for key, value in overrides.items() if value is not None}
    if workspace is not None:
        place = expanded(workspace)
        if not place.exists():
            raise OperatorError(f"the workspace {place} does not exist", hint=f"coilclaw init --workspace {place}")
        given["workspace_dir"] = str(place.resolve())
    settings = load_settings(os.environ, given)
    if settings.config.workspace_dir.exists() and not settings.config.workspace_dir.is_dir():
        raise OperatorError(f"the workspace {settings.config.workspace_dir} is not a folder")
    log_event("config.path", path=str(settings.path), exists=settings.path.exists())
    log_event("workspace.path", path=str(settings.config.workspace_dir))
    return settings


@contextmanager
def open_app(
    settings: Settings,
    *,
    record: bool = True,
    pool: int = 0,
    watch: bool = False,
    deadline: Deadline | None = None,
) -> Iterator[CoilClaw]:
    """The app of one command. With `deadline`, another process that writes to the database is waited for no longer
    than the run has time. A command that only looks at tools passes `record=False`: nothing is recorded then."""
    from coilclaw.app import CoilClaw, Composition

    begin_logging()
    parts = Composition(
        settings,
        environment=os.environ,
        record=record,
        pool=pool,
        watch=watch,
        notices=terminal_notices(),
        patience=None if deadline is None else lambda: max(_SHORTEST_WAIT, deadline.remaining),
    )
    with CoilClaw(parts) as claw, receipts_logged(claw) if record else nullcontext():
        yield claw


def load_registry(settings: Settings) -> Registry:
    """The tools as they are, for commands that only show them: nothing is recorded."""
    with open_app(settings, record=False) as claw:
        return claw.tools.registry


def this_person() -> str:
    """The name under which a decision is recorded: who the system says it is, whatever the environment says."""
    number = os.getuid()
    try:
        return pwd.getpwuid(number).pw_name.encode("utf-8", "replace").decode()
    except KeyError:
        return f"user {number}"


def terminal_notices() -> Notices:
    """Say on stderr what takes long."""
    from coilclaw.app import Notices

    compiling = _Compiling()
    return Notices(
        compiling=compiling.go_on,
        compiled=compiling.end,
        loading=lambda message: say(one_line(message), err=True),
        busy=lambda database: say(f"Waiting for another process that writes to {as_name(str(database))} …", err=True),
    )


def show_diagnostics(registry: Registry) -> None:
    for problem in (*registry.diagnostics, *registry.quarantined):
        warn(str(problem))


class _Compiling:
    """Shows progress while the guest is compiled for the first time."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._shown = False
        self._due = _TELL_SECONDS

    def go_on(self, seconds: float) -> None:
        if self._live:
            done = min(0.95, seconds / 10)
            bar = "█" * int(done * 24)
            say_progress(f"Compiling the sandbox for this machine, once [{bar:<24}] {seconds:4.1f} s")
        elif not self._shown:
            say("Compiling the sandbox for this machine, once; on a slow one this takes a minute or two …", err=True)
        elif seconds >= self._due:
            self._due += _TELL_SECONDS
            say(f"Still compiling the sandbox, {seconds:.0f} s so far …", err=True)
        self._shown = True

    def end(self, seconds: float) -> None:
        if self._live:
            say_progress("")
        say(f"Compiled the sandbox in {seconds:.1f} s; from now on it loads in milliseconds.", err=True)
