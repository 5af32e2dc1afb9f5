"""`coilclaw estop`: stop every tool at once, and let them go on."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from typing import Any

import click

from coilclaw.app import Estop, StopChange, open_stores
from coilclaw.cli.logs import log_event
from coilclaw.cli.opening import terminal_notices, this_person
from coilclaw.cli.terminal import say, say_json, warn
from coilclaw.config import home_folder, load_settings
from coilclaw.policy import EmergencyStop, StopState
from coilclaw.sdk import OperatorError
from coilclaw.sdk.legible import as_name, one_line

__all__ = ["estop"]


@click.command(epilog='Example: coilclaw estop --reason "it mails everyone"')
@click.option("--reason", metavar="TEXT", help="Why; models and receipts are told.")
@click.option("--clear", is_flag=True, help="End the stop.")
@click.option("--status", is_flag=True, help="Only say whether a stop is set: exit code 0 if not, 1 if it is.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def estop(reason: str | None, clear: bool, status: bool, as_json: bool) -> None:
    """Stop every tool, in all processes that use this home folder, until it is cleared.

    Calls under way are cancelled, with the runs they belong to. New calls are refused. Runs that wait for a
    person go on waiting. The stop is the file ESTOP in the home folder; creating it by hand stops as well.
    """
    if status and (clear or reason):
        raise click.UsageError("--status goes with neither --clear nor --reason")
    with ExitStack() as stack:
        # Neither a configuration that is not valid nor a lost log is in the way of a stop.
        stop = Estop(
            lambda: EmergencyStop.of_home(home_folder(os.environ)),
            lambda: stack.enter_context(open_stores(load_settings(os.environ), notices=terminal_notices())).log,
        )
        if status:
            sys.exit(_show(stop, as_json))
        if clear:
            _clear(stop, reason, as_json)
        else:
            _set(stop, reason, as_json)


def _show(stop: Estop, as_json: bool) -> int:
    found = stop.state
    if as_json:
        say_json(_object(stop, found))
    else:
        say(f"{one_line(str(found))} ({as_name(str(stop.path))})" if found else "No stop is set.")
    return 1 if found else 0


def _set(stop: Estop, reason: str | None, as_json: bool) -> None:
    def told(change: StopChange) -> None:
        if not as_json:  # Said at once: writing the receipt may take long, or fail.
            known = "All tools are stopped" if change.changed else f"Already set: {change.state}"
            say(f"{one_line(known)}. `coilclaw estop --clear` ends it.", err=True, fg="red")

    done = stop.set(by=this_person(), reason=reason, told=told)
    log_event("estop.triggered", by=this_person(), reason=reason, receipt=done.receipt)
    if done.problem is not None:
        warn(f"the stop holds, but its receipt could not be written: {done.problem}")
    if as_json:
        say_json(_object(stop, done.state, changed=done.changed, receipt=done.receipt, problem=done.problem))
    if done.state is None:
        raise OperatorError("the stop was cleared again at the same moment", hint="set it again if it is still needed")


def _clear(stop: Estop, reason: str | None, as_json: bool) -> None:
    was_set = stop.state is not None
    done = stop.clear(by=this_person(), reason=reason)
    if as_json:
        say_json(_object(stop, done.state, changed=done.changed, receipt=done.receipt))
    elif done.receipt is None and not was_set:
        say("No stop is set.", err=True)
    else:
        say("Tools may be called again." if done.changed else "Someone else has cleared it meanwhile.", err=True)


def _object(stop: Estop, found: StopState | None, **more: Any) -> dict[str, Any]:
    return {
        "stopped": found is not None,
        "path": str(stop.path),
        "when": found.when if found else None,
        "who": found.who if found else None,
        "reason": found.reason if found else None,
        **more,
    }
