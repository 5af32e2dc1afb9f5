"""Calls that wait for approval, as a person reads them: in a line, in a notice, and in full."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from coilclaw.app import call_rows
from coilclaw.cli.paging import Row
from coilclaw.cli.terminal import say, say_wrapped
from coilclaw.sdk import Risk
from coilclaw.sdk.legible import as_name, legible_line, one_line

if TYPE_CHECKING:
    from coilclaw.app import ApprovalRequest

__all__ = ["approval_rows", "sent_rows", "short_arguments", "shown_risk", "shown_status", "tell_pending"]

_LONGEST_SHORT: Final = 300
"""Characters of a reason or of arguments in a notice. `approval show` has them whole."""

_AROUND: Final = 20
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
"""Where Python ends a line. `str.splitlines` knows more ends, and a snippet could use them to move the mark."""


def shown_status(status: str) -> str:
    """Return the state of an approval in the words of the glossary."""
    return {"granted": "approved", "consumed": "approved, used"}.get(status, one_line(status))


def shown_risk(risk: str) -> str:
    try:
        return f"{risk} ({Risk(risk).level})"
    except ValueError:
        return one_line(risk)


def short_arguments(arguments: Any) -> str:
    """Return arguments as JSON on one line; what does not fit is counted."""
    return one_line(json.dumps(arguments, ensure_ascii=False), _LONGEST_SHORT)


def tell_pending(
    pending: Iterable[ApprovalRequest],
    run_id: str,
    options: str,
    *,
    waits: bool = False,
    resume: str = "resume",
    elsewhere: str = "",
) -> None:
    """Say on stderr what a run waits for, and which commands continue it, unless this process `waits` for them.

    `resume` is the command that continues what waits; `elsewhere` is what each command needs to reach its server.
    """
    at_once = "" if waits or resume != "resume" else f" --resume{options}{elsewhere}"
    for each in pending:
        name = as_name(each.id)
        say(err=True)
        say(f"Waiting for approval: {name}", err=True, bold=True)
        say(f"  Tool:    {as_name(each.tool)}", err=True)
        say(f"  Risk:    {shown_risk(each.risk)}", err=True)
        say_wrapped("  Reason:  ", one_line(each.reason, _LONGEST_SHORT), err=True)
        say_wrapped("  Args:    ", short_arguments(each.arguments), err=True)
        if each.runs is not None:
            say_wrapped("  Runs:    ", one_line(each.runs, _LONGEST_SHORT), err=True)
        say(f"  Look:    coilclaw approval show {name}{elsewhere}", err=True)
        say(f"  Approve: coilclaw approval approve {name}{at_once or elsewhere}", err=True)
    if waits:
        say_wrapped(
            "", f"{as_name(run_id)} waits here until this is decided elsewhere. Ctrl-C leaves it suspended.", err=True
        )
    else:
        say(f"Then continue: coilclaw {resume} {as_name(run_id)}{options}{elsewhere}", err=True)


def approval_rows(facts: Mapping[str, Any], sent: Iterable[Row], *, full: bool) -> Iterator[Row]:
    """Yield the snippet first and the call last: what counts must not scroll away."""
    if facts["source"] is not None:
        yield Row("", f"Snippet {as_name(facts['name'])}:", bold=True)
        yield from _marked(facts["source"], facts["line"], None if full else _AROUND)
        yield Row("")
    yield Row("", f"So far in {as_name(facts['run_id'])} ({one_line(facts['run_status'])}):", bold=True)
    for item in facts["activity"]:
        decision = f"  ({one_line(item['approval'])})" if item["approval"] else ""
        yield Row(f"  {item['status']:<9} ", f"{as_name(item['tool_id']):<24} {as_name(item['receipt_ref'])}{decision}")
    yield Row("")
    yield Row("", f"{as_name(facts['id'])} ({shown_status(facts['status'])})", bold=True)
    for label, text in _facts(facts):
        yield Row(f"  {label + ':':<10}", text)
    yield from sent


def sent_rows(facts: Mapping[str, Any], workspace: str) -> Iterator[Row]:
    """Yield everything that a call sends; what it writes to a file of the workspace as a change of that."""
    arguments = None if facts["arguments"] is None else json.dumps(facts["arguments"])
    yield from call_rows(facts["tool"], arguments, facts["runs"], Path(workspace) if workspace else None)


def _facts(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if facts["conversation_id"] is not None:
        yield "Of", as_name(facts["conversation_id"])
    yield "Tool", as_name(facts["tool"])
    yield "Version", as_name(facts["tool_version"])
    yield "Risk", shown_risk(facts["risk"])
    yield "Reason", one_line(facts["reason"])
    # The number comes from inside the sandbox, like everything a snippet says.
    where = f", line {facts['line']}, according to the snippet" if facts["line"] else ""
    yield "Call", f"{facts['number']}{where}"
    yield "Asked", f"{facts['created']}, until {facts['expires']}"
    if facts["decided_by"] is not None:
        yield "Decided", f"{facts['decided']} by {as_name(facts['decided_by'])}"


def _marked(source: str, line: int | None, around: int | None) -> Iterator[Row]:
    lines = _LINE_END.split(source)
    if lines and not lines[-1]:
        lines.pop()
    first, last = 1, len(lines)
    if around is not None and last > 3 * around:
        middle = min(line or 1, last)
        first, last = max(1, middle - around), min(last, middle + around)
    if first > 1:
        yield Row("         ", f"… {first - 1} lines before; approval show --full has all")
    for number in range(first, last + 1):
        mark = ">" if number == line else " "
        yield Row(f"  {mark} {number:>4}  ", legible_line(lines[number - 1]))
    if last < len(lines):
        yield Row("         ", f"… {len(lines) - last} lines after; approval show --full has all")
