"""Setting and clearing the emergency stop, with receipts.

The file is what counts. Setting it needs no database; the receipt is written afterwards, if it can be. Clearing goes
the other way round: without a receipt the stop is not cleared.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from coilclaw.app.arguments import check
from coilclaw.receipts import Draft, now
from coilclaw.sdk import CoilClawError, OperatorError
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from coilclaw.policy import EmergencyStop, StopState
    from coilclaw.receipts import ReceiptLog

__all__ = ["Estop", "StopChange"]

_LONGEST_REASON: Final = 500


class StopChange(Frozen):
    """The stop after it was set or cleared."""

    state: StopState | None
    changed: bool
    """False if it was so before."""
    receipt: str | None = None
    problem: str | None = None
    """Why there is no receipt."""


class Estop:
    """The emergency stop of a home: while it is set, every call in every process is refused."""

    def __init__(self, stop: Callable[[], EmergencyStop], log: Callable[[], ReceiptLog]) -> None:
        self._stop = stop
        self._log = log

    @property
    def path(self) -> Path:
        return self._stop().path

    @property
    def state(self) -> StopState | None:
        """The stop that is set, or None. In doubt it is set."""
        return self._stop().found()

    def set(
        self, *, by: str, reason: str | None = None, told: Callable[[StopChange], None] = lambda change: None
    ) -> StopChange:
        """Stop every tool. `told` is called before the receipt is written, which may take long or fail."""
        check(by=by, reason=reason)
        reason, when = _short(reason), now()
        created = self._stop().set(who=by, reason=reason, when=when)
        state = self.state
        told(StopChange(state=state, changed=created))
        payload = {"decided_by": by, "reason": reason, "already_set": not created}
        try:
            (receipt,) = self._log().append(Draft("estop.set", "denied", when, payload=payload))
            return StopChange(state=state, changed=created, receipt=receipt)
        except Exception as error:  # Whatever is wrong with the log, the stop holds.
            return StopChange(state=state, changed=created, problem=_said(error))

    def clear(self, *, by: str, reason: str | None = None) -> StopChange:
        """Let tools be called again. Raises OperatorError if the stop still holds after this."""
        check(by=by, reason=reason)
        found = self.state
        if found is None:
            return StopChange(state=None, changed=False)
        payload = {
            "decided_by": by,
            "reason": _short(reason),
            "stopped_by": found.who,
            "stopped_at": found.when,
        }
        try:
            (receipt,) = self._log().append(Draft("estop.cleared", "allowed", now(), payload=payload))
        except Exception as error:
            raise OperatorError(
                f"the stop still holds, because its end cannot be recorded: {_said(error)}",
                hint=f"no tool runs without receipts anyway; repair that, or remove {self.path} by hand",
            ) from None
        if self.state not in (found, None):
            raise OperatorError("another stop was set meanwhile, and holds", hint="clear it again if you mean that one")
        cleared = self._stop().clear()
        return StopChange(state=self.state, changed=cleared, receipt=receipt)


def _short(reason: str | None) -> str | None:
    return " ".join(reason.split())[:_LONGEST_REASON] or None if reason else None


def _said(error: Exception) -> str:
    return error.message if isinstance(error, CoilClawError) else f"{type(error).__name__}: {error}"
