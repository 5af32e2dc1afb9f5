"""Calls that a sandbox left under way when it said that it had ended.

The code inside a sandbox waits for every call that a snippet has begun. A snippet that has taken that code apart does
not, and nothing that a sandbox says is trusted: the host brings such calls to their end by the same rules. It does so
through the functions that the sandbox would have used, so that the journal repeats it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from coilclaw.sandbox import Completed, Failed, OutOfMemory, RunWarning

if TYPE_CHECKING:
    from coilclaw.sandbox import Host, Outcome

__all__ = ["end_left_calls"]

_BY_THE_HOST: Final = "TooManyCalls"
"""The one failure that is the host's own verdict: the sandbox had no chance to wait for anything."""


def end_left_calls(host: Host, unread: Collection[int], outcome: Outcome) -> Outcome:
    """Wait for the calls that nobody has waited for, and say so; those of a snippet that failed are withdrawn first.

    `unread` are their numbers; waiting takes them out. Raises RunEnded if the run is suspended, or its time is up.
    """
    if not isinstance(outcome, Completed | Failed | OutOfMemory):
        return outcome
    if isinstance(outcome, Failed) and outcome.error.type == _BY_THE_HOST:
        return outcome
    count = len(unread)
    if not isinstance(outcome, Completed):
        for number in sorted(unread):
            host.withdraw(number)
    while unread:
        host.wait(None)
    calls = "a call that was" if count == 1 else f"{count} calls that were"
    told = f"the snippet ended without {calls} under way; the run has waited, and nobody has seen the answers"
    return replace(outcome, warnings=(RunWarning(kind="left_calls", message=told), *outcome.warnings))
