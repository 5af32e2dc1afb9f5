"""`coilclaw estop`: stop every tool at once, and let them go on.

The file is what counts. Setting it needs no valid configuration and no database; the receipt is written
afterwards, if it can be. Ending the stop goes the other way round: without a receipt it is not ended.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Final

import click

from coilclaw.cli.person import this_person
from coilclaw.cli.terminal import say, say_json, warn
from coilclaw.config import home_folder, load_settings
from coilclaw.policy import EmergencyStop, StopState
from coilclaw.receipts import Draft, now
from coilclaw.sdk import CoilClawError, OperatorError
from coilclaw.sdk.legible import as_name, one_line

__all__ = ["estop"]

_LONGEST_REASON: Final = 500


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
    stop = EmergencyStop.of_home(home_folder(os.environ))
    reason = " ".join(reason.split())[:_LONGEST_REASON] or None if reason else None
    if status:
        sys.exit(_show(stop, as_json))
    if clear:
        _clear(stop, reason, as_json)
    else:
        _set(stop, reason, as_json)


def _show(stop: EmergencyStop, as_json: bool) -> int:
    found = stop.found()
    if as_json:
        say_json(_object(stop, found))
    else:
        say(f"{one_line(str(found))} ({as_name(str(stop.path))})" if found else "No stop is set.")
    return 1 if found else 0


def _set(stop: EmergencyStop, reason: str | None, as_json: bool) -> None:
    who, when = this_person(), now()
    created = stop.set(who=who, reason=reason, when=when)
    found = stop.found()
    if not as_json:  # Said at once: writing the receipt may take long, or fail.
        known = "All tools are stopped" if created else f"Already set: {found}"
        say(f"{one_line(known)}. `coilclaw estop --clear` ends it.", err=True, fg="red")
    receipt, problem = None, None
    payload = {"decided_by": who, "reason": reason, "already_set": not created}
    try:
        receipt = _record(Draft("estop.set", "denied", when, payload=payload))
    except Exception as error:  # Whatever is wrong with the log, the stop holds.
        problem = _said(error)
        warn(f"the stop holds, but its receipt could not be written: {problem}")
    if as_json:
        say_json(_object(stop, found, changed=created, receipt=receipt, problem=problem))
    if found is None:
        raise OperatorError("the stop was cleared again at the same moment", hint="set it again if it is still needed")


def _clear(stop: EmergencyStop, reason: str | None, as_json: bool) -> None:
    found = stop.found()
    receipt = None
    if found is not None:
        payload = {"decided_by": this_person(), "reason": reason, "stopped_by": found.who, "stopped_at": found.when}
        try:
            receipt = _record(Draft("estop.cleared", "allowed", now(), payload=payload))
        except Exception as error:
            raise OperatorError(
                f"the stop still holds, because its end cannot be recorded: {_said(error)}",
                hint=f"no tool runs without receipts anyway; repair that, or remove {stop.path} by hand",
            ) from None
        if stop.found() not in (found, None):
            raise OperatorError("another stop was set meanwhile, and holds", hint="clear it again if you mean that one")
    cleared = found is not None and stop.clear()
    if as_json:
        say_json(_object(stop, stop.found(), changed=cleared, receipt=receipt))
    elif found is None:
        say("No stop is set.", err=True)
    else:
        say("Tools may be called again." if cleared else "Someone else has cleared it meanwhile.", err=True)


def _record(draft: Draft) -> str:
    from coilclaw.cli.composition import open_log

    with open_log(load_settings(os.environ)) as log:
        return log.append(draft)[0]


def _object(stop: EmergencyStop, found: StopState | None, **more: Any) -> dict[str, Any]:
    return {
        "stopped": found is not None,
        "path": str(stop.path),
        "when": found.when if found else None,
        "who": found.who if found else None,
        "reason": found.reason if found else None,
        **more,
    }


def _said(error: Exception) -> str:
    return error.message if isinstance(error, CoilClawError) else f"{type(error).__name__}: {error}"
