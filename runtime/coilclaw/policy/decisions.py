"""Decisions of people, as receipts tell them.

The tables beside the log say what is open; they can be edited by whoever can write the file. What lets a call
through is therefore always a receipt: the yes to this very call, or the opening of a window that covers it.
"""

from __future__ import annotations

import calendar
import json
import time
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from coilclaw.receipts import DamagedReceipt, contents_json, second_of, text_field, type_field
from coilclaw.sdk.frozen import Frozen
from coilclaw.sdk.quick_json import from_json
from coilclaw.trust import this_boot

if TYPE_CHECKING:
    from coilclaw.policy.approval import Approval
    from coilclaw.receipts import ReceiptLog

__all__ = ["CallOfTool", "Decisions", "Standpoint", "Window", "boot_seconds"]

_WITH_APPROVAL: Final = text_field("approval")
_ASKED: Final = type_field("tool.call.pending")
_STARTED: Final = type_field("tool.call.started")
_DECIDED: Final = tuple(
    type_field(kind)
    for kind in ("tool.call.approved", "tool.call.denied", "approval.window.opened", "approval.window.closed")
)
_OF_CALL: Final = ("run_id", "conversation_id", "tool", "tool_version", "risk", "args_hash")

Standpoint = tuple[str | int | None, ...]
"""What a decision about one question is bound to."""


class CallOfTool(NamedTuple):
    """A call, as far as a window looks at it."""

    tool: str
    tool_version: str
    policy_hash: str


class Window(Frozen):
    """A window: permission for calls of one tool, for a short time and a number of uses.

    It holds in one workspace, for one version of the tool and under one policy: those of the call it was opened from.
    """

    id: str
    tool: str
    tool_version: str
    workspace: str
    policy_hash: str
    arguments: Mapping[str, Any]
    uses: int
    uses_left: int
    expires_at: int
    boot: str
    boot_ends: int
    """When it closes on the clock that runs since the machine was started, and that nobody sets."""
    granted_by: str

    def covers(self, call: CallOfTool, workspace: str, arguments: Mapping[str, Any]) -> bool:
        """Whether it lets this call through. Values are compared as canonical JSON: 1, 1.0 and true are three."""
        of_tool = CallOfTool(self.tool, self.tool_version, self.policy_hash)
        return (call, workspace) == (of_tool, self.workspace) and all(
            name in arguments and contents_json(arguments[name]) == contents_json(value)
            for name, value in self.arguments.items()
        )

    def is_over(self, newest: int) -> bool:
        """Whether its time is up. A clock that was set back opens nothing; `newest` is the latest time in the log."""
        if self.boot != this_boot() or boot_seconds() >= self.boot_ends:
            return True
        return max(int(time.time()), newest) >= self.expires_at


class Decisions:
    """What the receipts behind one place in the log say about questions and windows; of one run, or of all."""

    def __init__(self, log: ReceiptLog, after: int, run_id: str | None = None) -> None:
        self._tail = log.tail(after, run_id)
        self.after = after
        self.windows: dict[str, Window] = {}
        """Windows that were opened, and not closed since."""
        self.uses: Counter[str] = Counter()
        """How often each window was used."""
        self._approved: dict[str, Standpoint] = {}
        self._denied: dict[str, Standpoint] = {}
        self._used: set[str] = set()
        self._asked: dict[str, dict[str, Any]] = {}
        self._deciders: set[tuple[str | None, str | None]] = set()
        """Calls, and who decided about them."""
        self._newest = b""

    def read_on(self) -> None:
        """Read what was written since. Raises DamagedReceipt if the log does not hold: forget this object then."""
        try:
            for body, _ in self._tail.read():
                self._add(body)
        except (ValueError, TypeError, LookupError, AttributeError):
            raise DamagedReceipt("a receipt is damaged") from None

    def has_approved(self, approval_id: str, standpoint: Standpoint) -> bool:
        """Whether a person said yes to this very call, nobody said no, and no call was started with it yet."""
        aside = approval_id in self._denied or approval_id in self._used
        return self._approved.get(approval_id) == standpoint and not aside

    def has_denied(self, approval_id: str, standpoint: Standpoint) -> bool:
        return self._denied.get(approval_id) == standpoint

    def has_asked(self, approval: Approval) -> bool:
        """Whether this very question was asked, and whoever is said to have decided about its call did."""
        fields = self._asked.get(approval.id)
        if fields is None:
            return False
        payload = fields["payload"]
        same = all(fields.get(name) == getattr(approval, name) for name in _OF_CALL)
        # Earlier releases wrote the reason alone. What is over, by its time or because a row says so, decides nothing.
        ends = {} if approval.status != "expired" else {"expires_at": approval.expires_at}
        told = all({**payload, **ends}.get(name, value) == value for name, value in approval.shown_facts.items())
        by = approval.decided_by is None or (approval.call_id, approval.decided_by) in self._deciders
        of_call = (fields["tool_call_id"], payload.get("runs_hash")) == (approval.call_id, approval.runs_hash)
        return same and told and by and of_call

    def rule_of(self, approval_id: str) -> str | None:
        """The rule that demanded approval, as the receipt of the question says."""
        fields = self._asked.get(approval_id)
        return None if fields is None else fields["payload"].get("matched_rule")

    @property
    def newest(self) -> int:
        """The latest time that any of these receipts has, in seconds."""
        if not self._newest:
            return 0
        return calendar.timegm(time.strptime(self._newest.decode(), "%Y-%m-%dT%H:%M:%S"))

    def _add(self, body: bytes) -> None:
        self._newest = max(self._newest, second_of(body))
        if body.endswith(_DECIDED):
            self._add_decision(from_json(body))
        elif body.endswith(_ASKED):
            fields = from_json(body)
            self._asked[fields["payload"].get("approval")] = fields
        elif body.endswith(_STARTED) and _WITH_APPROVAL in body:
            self._used.add(from_json(body)["payload"].get("approval"))

    def _add_decision(self, fields: dict[str, Any]) -> None:
        kind, payload = fields["type"], fields["payload"]
        window = payload.get("grant")
        self._deciders.add((fields.get("tool_call_id"), payload.get("decided_by")))
        if kind == "approval.window.opened":
            self.windows[window] = _window(fields)
        elif kind == "approval.window.closed":
            self.windows.pop(window, None)
        elif window is not None:
            self.uses[window] += 1
        elif (approval_id := payload.get("approval")) is not None:
            said = self._approved if kind == "tool.call.approved" else self._denied
            said[approval_id] = (
                *(fields[name] for name in ("run_id", "tool_call_id", "tool", "tool_version", "args_hash")),
                *(payload.get(name) for name in ("policy_hash", "expires_at", "decided_by", "runs_hash")),
            )


def boot_seconds() -> int:
    """Seconds since the machine was started, sleep included where the system counts it."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return int(time.monotonic() if clock is None else time.clock_gettime(clock))


def _window(fields: dict[str, Any]) -> Window:
    payload = fields["payload"]
    return Window(
        id=payload["grant"],
        tool=fields["tool"],
        tool_version=fields["tool_version"],
        workspace=payload["workspace"],
        policy_hash=payload["policy_hash"],
        arguments=json.loads(payload["arguments"]),
        uses=payload["uses"],
        uses_left=payload["uses"],
        expires_at=payload["expires_at"],
        boot=payload["boot"],
        boot_ends=payload["boot_ends"],
        granted_by=payload["decided_by"],
    )
