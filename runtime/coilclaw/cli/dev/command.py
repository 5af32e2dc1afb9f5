"""The command itself: putting the parts together, and the loop that waits for something to happen."""

from __future__ import annotations

import queue
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, TextIO, TypeAlias

import click

from coilclaw.app import CoilClaw
from coilclaw.bridge import Registry
from coilclaw.cli.approver import approver_for
from coilclaw.cli.dev.events import DevEvent, RunFinished
from coilclaw.cli.dev.finished_calls import FinishedCalls
from coilclaw.cli.dev.printers import JsonLines, PlainLines, Printer
from coilclaw.cli.dev.tool_changes import ToolChanges
from coilclaw.cli.opening import expanded, open_app, settings_for
from coilclaw.cli.terminal import counted
from coilclaw.cli.waiting import command_caller, warn_if_stopped
from coilclaw.policy import NobodyToAsk
from coilclaw.sandbox import Deadline
from coilclaw.workspace_tools import Change

if TYPE_CHECKING:
    from coilclaw.cli.dev.script import ScriptRuns

__all__ = ["dev"]

_IDLE_SECONDS: Final = 0.5
_SCRIPT_SECONDS: Final = 0.05


class _Nudge(Enum):
    """What a signal, or the event feed, asks for."""

    CALLS = "calls"
    END = "end"
    DRAW = "draw"
    STOP = "stop"


@dataclass(frozen=True, kw_only=True)
class _NewTools:
    change: Change
    registry: Registry


_Item: TypeAlias = DevEvent | _NewTools | _Nudge
# Unlike `queue.Queue`, this one may be put into from a signal handler while the same thread waits for it.
_Inbox: TypeAlias = "queue.SimpleQueue[_Item]"


@click.command(epilog="Example: coilclaw dev --run examples/report.py")
@click.option("--workspace", metavar="DIR", help="The workspace whose tools are watched.")
@click.option("--run", "script", metavar="FILE", help="Run this script now, and again whenever it or a tool changes.")
@click.option("--engine", type=click.Choice(["wasm", "restricted"]), help="The sandbox engine for --run.")
@click.option("--yes", is_flag=True, help="With --run: approve calls that need it; they are refused otherwise.")
@click.option("--once", is_flag=True, help="Load (and run) once and end: exit code 1 if anything failed.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line for each event.")
def dev(workspace: str | None, script: str | None, engine: str | None, yes: bool, once: bool, as_json: bool) -> None:
    """Watch the workspace's tools: see them reload, fail and be called, as it happens.

    On a terminal this is a live view, elsewhere one line for each event. Ctrl-C ends it, with exit code 0.
    A file that fails keeps its last good version until it is mended. Calls are read from the
    receipts, so those of other processes are shown too.

    \b
    The events of --json, each with "event" and "time":
      ready         workspace, tools, workspace_tools, errors, quarantined, hint
      reloaded      file, tools, milliseconds, generation
      failed        file, line, column, message, hint, excerpt, milliseconds
      removed       file
      quarantined   file, reason, command
      call          tool, status, milliseconds, code, message, run_id, receipt
      run.started   script, reason, generation
      run.output    stream, text
      run.finished  script, run_id, status, engine, milliseconds, value, error, activity
      problem       message, hint
    """
    if script is None and (engine is not None or yes):
        raise click.UsageError("--engine and --yes are about the script of --run")
    if script is not None and not expanded(script).is_file():
        raise click.UsageError(f"there is no file {script}")
    settings = settings_for(workspace, sandbox__engine=engine)
    approver = approver_for(True, Deadline(0)) if yes else NobodyToAsk()
    inbox: _Inbox = queue.SimpleQueue()
    output = sys.stdout
    with ExitStack() as stack:
        # What tools print is not this command's output.
        stack.enter_context(redirect_stdout(sys.stderr))
        claw = stack.enter_context(open_app(settings, pool=1))
        runs = None
        if script is not None:
            from coilclaw.cli.dev.script import Script, ScriptRuns

            claw.engines.get()
            caller = command_caller(approver=approver, suspends=False)
            runs = ScriptRuns(Script(expanded(script)), claw, caller, inbox.put)
        claw.load()
        warn_if_stopped(claw)
        if once:
            code = _once(claw, runs, inbox, JsonLines(output) if as_json else PlainLines(output))
        else:
            code = _follow(claw, runs, inbox, output, as_json=as_json)
    sys.exit(code)


def _once(claw: CoilClaw, runs: ScriptRuns | None, inbox: _Inbox, printer: Printer) -> int:
    workspace = claw.settings.config.workspace_dir
    registry = claw.tools.registry
    calls = FinishedCalls(claw.feed)
    calls.recent()
    for event in ToolChanges(workspace, registry).opening(registry):
        printer.tell(event)
    status = runs.run("start") if runs is not None else "completed"
    for event in _waiting(inbox):
        for call in calls.all_new() if isinstance(event, RunFinished) else ():
            printer.tell(call)
        printer.tell(event)
    if status == "cancelled":
        return 130
    return 1 if registry.diagnostics or status != "completed" else 0


def _waiting(inbox: _Inbox) -> Iterator[DevEvent]:
    """The events that are there already."""
    while not inbox.empty():
        item = inbox.get()
        if isinstance(item, DevEvent):
            yield item


def _follow(claw: CoilClaw, runs: ScriptRuns | None, inbox: _Inbox, output: TextIO, *, as_json: bool) -> int:
    """Tell everything until a person ends it."""
    # One after the other in this order, and ended in the opposite one: the terminal is given back first.
    with ExitStack() as stack:
        if runs is not None:
            stack.enter_context(runs)
        opening = claw.tools.registry
        changes = ToolChanges(claw.settings.config.workspace_dir, opening)
        stack.enter_context(claw.tools.watch(lambda *new: inbox.put(_NewTools(change=new[0], registry=new[1]))))
        signals = stack.enter_context(_signals(inbox.put))
        printer = stack.enter_context(_printer(claw, changes, inbox, output, as_json=as_json))
        calls = FinishedCalls(claw.feed, lambda: inbox.put(_Nudge.CALLS))
        loop = _Loop(printer, changes, calls, runs, inbox)
        loop.begin(opening)
        loop.go_on()
    if signals.number == signal.SIGTERM:
        return 128 + signal.SIGTERM
    return 0


@contextmanager
def _printer(
    claw: CoilClaw, changes: ToolChanges, inbox: _Inbox, output: TextIO, *, as_json: bool
) -> Iterator[Printer]:
    from coilclaw.cli.dev import screen

    if as_json:
        yield JsonLines(output)
    elif not screen.suits(output):
        yield PlainLines(output)
    else:
        from coilclaw.cli.dev.view import Picture

        config = claw.settings.config
        picture = Picture(workspace=config.workspace_dir, policy=claw.tools.policy, changes=changes)
        with screen.Screen(picture, output, inbox.put) as shown:
            yield shown
        tools, errors = counted(len(picture.registry.tools), "tool"), counted(len(picture.errors), "error")
        output.write(f"coilclaw dev ended: {tools}, {errors}, {counted(picture.runs, 'run')}.\n")


class _Loop:
    """Waits for tools, the script, calls and signals, and tells what happened; all of it on one thread."""

    def __init__(
        self, printer: Printer, changes: ToolChanges, calls: FinishedCalls, runs: ScriptRuns | None, inbox: _Inbox
    ) -> None:
        self._printer = printer
        self._changes = changes
        self._calls = calls
        self._runs = runs
        self._inbox = inbox

    def begin(self, registry: Registry) -> None:
        before = self._calls.recent()
        if not isinstance(self._printer, PlainLines):
            self._tell(before)  # A line is for what happens from now on.
        self._printer.use(registry)
        self._tell(self._changes.opening(registry))
        self._printer.refresh()
        if self._runs is not None:
            self._runs.want("start")

    def go_on(self) -> None:
        """Until a signal says that it is enough."""
        wait = _SCRIPT_SECONDS if self._runs is not None else _IDLE_SECONDS
        while True:
            try:
                item: _Item | None = self._inbox.get(timeout=wait)
            except queue.Empty:
                item = None
            told = False
            while item is not None:
                if item is _Nudge.END:
                    self._end()
                    return
                self._take(item)
                told = True
                item = None if self._inbox.empty() else self._inbox.get()
            told |= self._look()
            if told:
                self._printer.refresh()

    def _take(self, item: _Item) -> None:
        if isinstance(item, _NewTools):
            self._printer.use(item.registry)
            self._tell(self._changes.of(item.change, item.registry))
            if self._runs is not None and (item.change.loaded or item.change.removed):
                self._runs.want("a tool changed")
        elif isinstance(item, DevEvent):
            if isinstance(item, RunFinished):
                self._tell(self._calls.all_new())  # Its calls came before its end.
            self._printer.tell(item)
        elif item is _Nudge.STOP:
            self._printer.step_aside()
            with _default(signal.SIGTSTP):
                signal.raise_signal(signal.SIGTSTP)  # Goes on here when the shell says so.

    def _look(self) -> bool:
        """At the script, and at some of the calls that ended, so that a signal is never behind all of them."""
        if self._runs is not None and self._runs.script.was_saved():
            self._runs.want("the script changed")
        called = self._calls.new()
        self._tell(called)
        if called:
            self._inbox.put(_Nudge.CALLS)
        return bool(called)

    def _end(self) -> None:
        """Cancel the current run, and report how it ended."""
        if self._runs is not None:
            self._runs.close()
            for event in _waiting(self._inbox):
                self._take(event)

    def _tell(self, events: Any) -> None:
        for event in events:
            self._printer.tell(event)


@dataclass
class _Ending:
    number: int | None = None


@contextmanager
def _signals(put: Callable[[_Item], None]) -> Iterator[_Ending]:
    """Signals become items of the loop, so that none of them falls into the middle of something."""
    ending = _Ending()

    def end(number: int, frame: object) -> None:
        if ending.number is not None:
            raise KeyboardInterrupt  # Asked for again: do not wait for anything.
        ending.number = number
        put(_Nudge.END)

    handlers: dict[str, Any] = {
        "SIGINT": end,
        "SIGTERM": end,
        "SIGWINCH": lambda number, frame: put(_Nudge.DRAW),
        "SIGTSTP": lambda number, frame: put(_Nudge.STOP),
    }
    before: list[tuple[int, Any]] = []
    for name, handler in handlers.items():
        number = getattr(signal, name, None)  # Not every system has all of them.
        # What our parent ignores for us, as a shell does for background jobs, stays ignored.
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            before.append((number, signal.signal(number, handler)))
    try:
        yield ending
    finally:
        for number, handler in before:
            signal.signal(number, handler)


@contextmanager
def _default(number: int) -> Iterator[None]:
    handler = signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(number, handler)
