"""Windows of `coilclaw approval`: opened with an approval, listed, and closed before their time."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import click

from coilclaw.cli.arguments import json_value, named_texts
from coilclaw.cli.opening import open_app, settings_for, this_person
from coilclaw.cli.pending_calls import short_arguments
from coilclaw.cli.terminal import counted, say, say_json
from coilclaw.policy import LONGEST_WINDOW_SECONDS
from coilclaw.receipts import contents_json
from coilclaw.sdk import OperatorError
from coilclaw.sdk.legible import as_name, one_line

if TYPE_CHECKING:
    from coilclaw.app import Window

__all__ = [
    "DEFAULT_USES",
    "MOST_USES",
    "revoke",
    "tell_left_open",
    "tell_window",
    "window_arguments",
    "window_facts",
    "window_seconds",
    "windows",
]

DEFAULT_USES: Final = 10
MOST_USES: Final = 10_000
_UNITS: Final = {"s": 1, "m": 60, "h": 3600}


@click.command(epilog="Example: coilclaw approval windows --json")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def windows(as_json: bool) -> None:
    """List open windows, the next to close first."""
    with open_app(settings_for()) as claw:
        found = claw.approvals.windows.list()
    if as_json:
        say_json([window_facts(each) for each in found])
        return
    for each in found:
        left = max(0, each.expires_at - int(time.time()))
        say(
            f"{each.id}  {as_name(each.tool)}{_narrowed(each)}  {each.uses_left} of {each.uses} uses, {left} s left"
            f"  {as_name(each.workspace)}  by {as_name(each.granted_by)}"
        )
    if found:
        say("To close one early: coilclaw approval revoke ID", err=True, dim=True)
    else:
        say("No window is open.", err=True)


@click.command(epilog="Example: coilclaw approval revoke grant-77d21f0c9a")
@click.argument("window_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object: the window.")
def revoke(window_id: str, as_json: bool) -> None:
    """Close a window. Calls like those it let through need approval again."""
    with open_app(settings_for()) as claw:
        closed = claw.approvals.windows.close(window_id, by=this_person())
    if as_json:
        say_json(window_facts(closed))
    say(f"Closed {closed.id}: {as_name(closed.tool)}", err=True)


def window_facts(window: Window) -> dict[str, Any]:
    """A window, for a program."""
    return {
        "id": window.id,
        "tool": window.tool,
        "tool_version": window.tool_version,
        "workspace": window.workspace,
        "arguments": dict(window.arguments),
        "uses": window.uses,
        "uses_left": window.uses_left,
        "expires": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(window.expires_at)),
        "granted_by": window.granted_by,
    }


def tell_window(window: Window, seconds: int) -> None:
    """Say on stderr what was opened."""
    calls = counted(window.uses_left, "call")
    say(f"Window {window.id}: up to {calls} of {as_name(window.tool)}{_narrowed(window)} for {seconds} s", err=True)
    say(f"To close it early: coilclaw approval revoke {window.id}", err=True)


def tell_left_open(windows: Iterable[Window], workspace: str) -> None:
    """Say on stderr which windows of a workspace stay open though a run in it has ended."""
    for each in windows:
        if each.workspace == workspace:
            say(f"Window {each.id} stays open: {as_name(each.tool)}{_narrowed(each)}", err=True)
            say(f"To close it early: coilclaw approval revoke {each.id}", err=True)


def window_seconds(window: str | None, uses: int | None, where: tuple[str, ...]) -> int | None:
    """How long the window of these options is open; None without one."""
    if window is None:
        if uses is not None or where:
            raise click.UsageError("--uses and --where belong to --window; without it an approval is for one call")
        return None
    number, unit = window[:-1], window[-1:]
    if unit not in _UNITS or not (number.isascii() and number.isdigit()) or len(number) > 4:
        raise click.BadParameter(f"{window[:50]!r} is not a time, e.g. 90s or 10m", param_hint="--window")
    seconds = int(number) * _UNITS[unit]
    if not 0 < seconds <= LONGEST_WINDOW_SECONDS:
        longest = f"{LONGEST_WINDOW_SECONDS // 60}m"
        raise click.BadParameter(f"a window lasts at most {longest}, and at least 1s", param_hint="--window")
    return seconds


def window_arguments(where: tuple[str, ...], arguments: Any) -> dict[str, Any]:
    """What the window asks of arguments. The call at hand must fit: a typo would make the window useless."""
    if where and not isinstance(arguments, dict):
        raise OperatorError("the arguments of this call are no longer kept, so --where cannot be checked")
    narrowed: dict[str, Any] = {}
    for name, text in named_texts(where, "NAME=VALUE", "--where").items():
        if name not in arguments:
            has = ", ".join(sorted(arguments)) or "none"
            raise click.BadParameter(
                f"the call has no argument {as_name(name)}; it has: {one_line(has)}", param_hint="--where"
            )
        actual = arguments[name]
        value = text if isinstance(actual, str) else _json(name, text)
        if contents_json(value) != contents_json(actual):
            shown = short_arguments(actual)
            raise click.BadParameter(
                f"the call itself does not fit: its {as_name(name)} is {shown}", param_hint="--where"
            )
        narrowed[name] = value
    return narrowed


def _narrowed(window: Window) -> str:
    if not window.arguments:
        return " with any arguments"
    return f" with {one_line(json.dumps(dict(window.arguments), ensure_ascii=False))}"


def _json(name: str, text: str) -> Any:
    try:
        return json_value(text)
    except ValueError as error:
        raise click.BadParameter(f"the value of {as_name(name)} is not JSON: {error}", param_hint="--where") from None
