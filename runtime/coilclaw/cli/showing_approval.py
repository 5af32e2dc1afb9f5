"""Render a pending approval for a person, in full and with invisible characters made visible."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from coilclaw.app import ApprovalRequest, CoilClaw
from coilclaw.cli.call_text import argument_rows, runs_rows
from coilclaw.cli.paging import Row, say_rows
from coilclaw.cli.pending_notice import shown_risk
from coilclaw.sdk.legible import as_name, legible_line, one_line

__all__ = ["approval_rows", "show_approval", "workspace_of"]

_AROUND: Final = 20
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
"""Where Python ends a line. `str.splitlines` knows more ends, and a snippet could use them to move the mark."""


def workspace_of(claw: CoilClaw, asked: ApprovalRequest) -> Path | None:
    """The workspace whose files the call would change."""
    place = claw.runs.find(asked.run_id).header.workspace
    return Path(place) if place else None


def show_approval(facts: Mapping[str, Any], *, full: bool, workspace: Path | None = None, err: bool = False) -> None:
    """Print the question whole."""
    say_rows(approval_rows(facts, workspace, full=full), err=err)


def approval_rows(facts: Mapping[str, Any], workspace: Path | None, *, full: bool) -> Iterator[Row]:
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
    yield Row("", f"{as_name(facts['id'])} ({one_line(facts['status'])})", bold=True)
    for label, text in _facts(facts):
        yield Row(f"  {label + ':':<10}", text)
    yield Row("  Args:")
    if facts["arguments"] is None:
        yield Row("    ", "no longer kept; the call itself is still bound to their hash")
    else:
        yield from argument_rows(facts["tool"], json.dumps(facts["arguments"]), workspace)
    if facts["runs"] is not None:
        yield Row("  Runs:")
        yield from runs_rows(facts["runs"])


def _facts(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
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
