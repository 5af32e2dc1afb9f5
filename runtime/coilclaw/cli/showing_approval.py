"""One question in full: what would run, where in the snippet, and what came before."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import click

from coilclaw.cli.composition import Evidence
from coilclaw.cli.disclosure import approval_facts, shown_risk, visible
from coilclaw.evidence import activity_of
from coilclaw.policy import Approval
from coilclaw.runs import standing

__all__ = ["full_facts", "show_approval"]

_AROUND: Final = 20
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
"""Where Python ends a line. `str.splitlines` knows more ends, and a snippet could use them to move the mark."""


def full_facts(evidence: Evidence, approval: Approval) -> dict[str, Any]:
    """The question with its run."""
    known = standing(evidence.database, approval.run_id)
    source = evidence.log.contents(known.header.code_hash) if known.header.kind == "snippet" else None
    receipts = [each for each in evidence.log.of_run(approval.run_id) if each.seq >= known.first_seq]
    return {
        **approval_facts(approval, evidence.log),
        "run_status": known.status,
        "name": known.header.name,
        "kind": known.header.kind,
        "source": None if source is None else source.decode(errors="replace"),
        "activity": [item.model_dump() for item in activity_of(approval.run_id, receipts).items],
    }


def show_approval(facts: Mapping[str, Any], *, full: bool, err: bool = False) -> None:
    """The snippet first and the call last: what counts must not scroll away."""

    def say(text: str = "", *, bold: bool = False) -> None:
        click.secho(text, err=err, bold=bold)

    if facts["source"] is not None:
        say(f"Snippet {visible(facts['name'])}:", bold=True)
        for line in _marked(facts["source"], facts["line"], None if full else _AROUND):
            say(line)
        say()
    say(f"So far in {facts['run_id']} ({facts['run_status']}):", bold=True)
    for item in facts["activity"]:
        decision = f"  ({visible(item['approval'])})" if item["approval"] else ""
        say(f"  {item['status']:<9} {visible(item['tool_id']):<28} {item['receipt_ref']}{decision}")
    say()
    say(f"{facts['id']} ({facts['status']})", bold=True)
    for label, text in _rows(facts):
        say(f"  {label + ':':<10}{text}")
    say("  Args:")
    for line in _arguments(facts["arguments"]):
        say(f"    {line}")


def _rows(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "Tool", visible(facts["tool"])
    yield "Version", visible(facts["tool_version"])
    yield "Risk", shown_risk(facts["risk"])
    yield "Reason", visible(facts["reason"])
    # The number comes from inside the sandbox, like everything a snippet says.
    yield "Call", f"{facts['number']}" + (f", from line {facts['line']} as the snippet tells" if facts["line"] else "")
    yield "Asked", f"{facts['created']}, until {facts['expires']}"
    if facts["decided_by"] is not None:
        yield "Decided", f"{facts['decided']} by {visible(facts['decided_by'])}"


def _arguments(arguments: Any) -> Iterator[str]:
    if arguments is None:
        yield "no longer kept; the call itself is still bound to their hash"
        return
    for line in json.dumps(arguments, indent=2, ensure_ascii=False).split("\n"):
        yield visible(line)


def _marked(source: str, line: int | None, around: int | None) -> Iterator[str]:
    lines = _LINE_END.split(source)
    if lines and not lines[-1]:
        lines.pop()
    first, last = 1, len(lines)
    if around is not None and last > 3 * around:
        middle = min(line or 1, last)
        first, last = max(1, middle - around), min(last, middle + around)
    if first > 1:
        yield f"         … {first - 1} lines before; --full shows all"
    for number in range(first, last + 1):
        mark = ">" if number == line else " "
        yield f"  {mark} {number:>4}  {visible(lines[number - 1])}"
    if last < len(lines):
        yield f"         … {len(lines) - last} lines after; --full shows all"
