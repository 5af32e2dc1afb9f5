"""`coilclaw evidence`: check what an answer says against what tools did."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

import click

from coilclaw.cli.terminal import say_json
from coilclaw.evidence import Evidence, check_answer
from coilclaw.sdk import Risk
from coilclaw.sdk.legible import as_name, one_line

__all__ = ["evidence"]

_LARGEST: Final = 16 * 2**20
_STATUSES: Final = ("succeeded", "failed", "denied", "pending", "unknown", "running")
_FIELDS: Final = {
    "tool_id": str,
    "status": str,
    "summary": str,
    "receipt_ref": str,
    "call_id": str,
    "arguments": dict,
}


@click.group()
def evidence() -> None:
    """Check what an answer says against what tools did.

    \b
    Example:
      coilclaw evidence check answer.json
    """


@evidence.command(epilog="Example: coilclaw evidence check answer.json")
@click.argument("file")
@click.option("--strict", is_flag=True, help="End with exit code 1 if the answer is not grounded.")
def check(file: str, strict: bool) -> None:
    """Check the claims of an answer against the activity beside it.

    FILE, or - for standard input, is JSON: {"answer": "...", "activity": [{"tool_id", "status", "summary",
    "receipt_ref", "arguments", "risk"}]}. Prints {"grounded", "claims": [{"text", "verdict", "receipt_ref"}]}; an
    answer is grounded if no claim in it is unverified or contradicted.
    """
    answer, activity = _given(file)
    grounding = check_answer(answer, activity)
    claims = [
        {"text": claim.text, "verdict": claim.verdict, "receipt_ref": claim.receipt_ref} for claim in grounding.claims
    ]
    say_json({"grounded": grounding.grounded, "claims": claims})
    sys.exit(1 if strict and not grounding.grounded else 0)


def _given(file: str) -> tuple[str, list[Evidence]]:
    place = "standard input" if file == "-" else as_name(file)
    try:
        data = sys.stdin.buffer.read(_LARGEST + 1) if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise click.UsageError(f"cannot read {place}: {error.strerror}") from None
    if len(data) > _LARGEST:
        raise click.UsageError(f"{place} is larger than {_LARGEST >> 20} MB")
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"{place} is not JSON: {one_line(str(error), 200)}") from None
    if not isinstance(value, dict) or not isinstance(value.get("answer"), str):
        raise click.UsageError(f'{place}: expected an object with "answer", a text, and "activity", a list')
    activity = value.get("activity", [])
    if not isinstance(activity, list):
        raise click.UsageError(f'{place}: "activity" is not a list')
    return value["answer"], [_evidence(each, f"{place}: activity {number}") for number, each in enumerate(activity, 1)]


def _evidence(given: Any, where: str) -> Evidence:
    if not isinstance(given, dict):
        raise click.UsageError(f"{where} is not an object")
    for name in ("tool_id", "status"):
        if name not in given:
            raise click.UsageError(f'{where} has no "{name}"')
    for name, kind in _FIELDS.items():
        if given.get(name) is not None and not isinstance(given[name], kind):
            raise click.UsageError(f'{where}: "{name}" is not {"an object" if kind is dict else "a text"}')
    if given["status"] not in _STATUSES:
        raise click.UsageError(f'{where}: "status" is none of {", ".join(_STATUSES)}')
    known = {name: given[name] for name in (*_FIELDS, "result") if given.get(name) is not None}
    risk = given.get("risk")
    return Evidence(**known, risk=risk if risk in list(Risk) else None)
