"""`coilclaw receipt`: reading, verifying and exporting the log."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from coilclaw.cli.opening import open_app, settings_for, this_person
from coilclaw.cli.remote.connecting import open_place, refuse_with_server, server_option
from coilclaw.cli.terminal import counted, say, say_json
from coilclaw.receipts import LogMissing
from coilclaw.sdk import OperatorError, Receipt
from coilclaw.sdk.legible import as_name, one_line

if TYPE_CHECKING:
    from coilclaw.app import CoilClaw
    from coilclaw.receipts import Verification

__all__ = ["print_receipt", "receipt"]

_FRACTION: Final = re.compile(r"\.\d+Z$")
"""The part of a second in a timestamp: JSON has it, a line for a person has no room."""


@click.group()
def receipt() -> None:
    """Read, verify and export receipts.

    \b
    Example:
      coilclaw receipt list
      coilclaw receipt verify
      coilclaw receipt export -o receipts.jsonl
    """


@receipt.command("list", epilog="Example: coilclaw receipt list --limit 50 --json")
@click.option("--run", "run_id", metavar="RUN", help="Only the receipts of this run.")
@click.option(
    "--limit", type=click.IntRange(1, 1_000_000), default=20, show_default=True, help="How many, counted from the last."
)
@server_option
@click.option("--follow", is_flag=True, help="Print new ones too, as they come, until Ctrl-C.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list; with --follow, one JSON object a line.")
def list_receipts(run_id: str | None, limit: int, server: str | None, follow: bool, as_json: bool) -> None:
    """List the latest receipts, oldest first."""
    from coilclaw.app import CoilClaw

    refuse_with_server(server, follow=follow)
    with open_place(server, "read") as claw:
        if follow and isinstance(claw, CoilClaw):
            _follow(claw, run_id, limit, as_json=as_json)
            return
        receipts = claw.receipts.latest(limit, run_id=run_id)
    if as_json:
        say_json([each._asdict() for each in receipts])
        return
    for each in receipts:
        print_receipt(each)
    if not receipts:
        say("There are no receipts of this run." if run_id else "There are no receipts yet.", err=True)


def _follow(claw: CoilClaw, run_id: str | None, limit: int, *, as_json: bool) -> None:
    def show(each: Receipt) -> None:
        if as_json:
            say_json(each._asdict())
        else:
            print_receipt(each)

    # What comes while the latest are printed is behind this cursor, and may be among them.
    after, latest = claw.feed.end(), claw.receipts.latest(limit, run_id=run_id)
    for each in latest:
        show(each)
    shown = {each.id for each in latest}
    try:
        for event in claw.events(after):
            if event.receipt is not None and event.receipt not in shown and run_id in (None, event.run_id):
                show(claw.receipts.find(event.receipt))
    except KeyboardInterrupt:
        return


def print_receipt(each: Receipt) -> None:
    """Print a receipt as one line."""
    subject = each.payload.get("path") or each.tool or each.run_id or each.payload.get("provider") or ""
    when, kind, status = _FRACTION.sub("Z", one_line(each.timestamp)), one_line(each.type), one_line(each.status)
    say(f"{each.seq:>5} {when} {kind:<19} {status:<9} {as_name(str(subject))}")


@receipt.command("show", epilog="Example: coilclaw receipt show 42")
@click.argument("reference")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def show(reference: str, as_json: bool) -> None:
    """Show one receipt, by its id or its number, with the arguments and the result it stands for."""
    with open_app(settings_for()) as claw:
        found = claw.receipts.find(reference)
        facts = {**found._asdict(), **claw.receipts.contents(found)}
    if as_json:
        say_json(facts)
        return
    for key, value in facts.items():
        say(f"{key:<16} {one_line(value if isinstance(value, str) else json.dumps(value))}")


@receipt.command("verify", epilog="Example: coilclaw receipt verify receipts.jsonl")
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def verify(file: str | None, as_json: bool) -> None:
    """Replay the log, or an exported FILE, and name the first receipt that does not hold (exit code 1)."""
    from coilclaw.receipts import Verification, verify_export

    if file is None:
        try:
            with open_app(settings_for()) as claw:
                result = claw.verify()
        except LogMissing as missing:
            result = Verification(count=0, first_bad=1, problem=f"{missing.message}; {missing.hint}")
    else:
        with click.open_file(file, "rb") as lines:
            result = verify_export(lines)
    if as_json:
        facts = {"ok": result.ok, "count": result.count, "first_bad": result.first_bad, "problem": result.problem}
        say_json({**facts, "head": result.head})
    else:
        _tell(result, file)
    sys.exit(0 if result.ok else 1)


def _tell(result: Verification, file: str | None) -> None:
    if not result.ok:
        say(f"Invalid chain at receipt {result.first_bad}: {one_line(str(result.problem))}", fg="red")
        return
    count = counted(result.count, "receipt")
    say(f"Valid: {count}, " + ("chain and seal hold" if file is None else "the chain holds"), fg="green")
    if file is not None:
        say(f"Last hash {result.head}: compare it with the log's to know that nothing was cut off.", err=True)


@receipt.command("restart", epilog="Example: coilclaw receipt restart")
@click.option("--workspace", metavar="DIR", help="The workspace whose tools are held back.")
@click.option("--yes", is_flag=True, help="Do not ask. For scripts of a person who knows that the log is lost.")
def restart(workspace: str | None, yes: bool) -> None:
    """Begin a new log after the old one was lost.

    The key of the lost log is kept under another name. Nobody knows any more which tool files were written through the
    bridge, so all of the workspace are quarantined until `coilclaw tool trust`.
    """
    from coilclaw.app import restart_log
    from coilclaw.cli.paging import confirmed

    settings = settings_for(workspace)
    try:
        with open_app(settings) as claw:
            claw.receipts.latest(1)
            raise OperatorError(
                "the receipt log is there: nothing to restart", hint="`coilclaw receipt verify` checks it"
            )
    except LogMissing as missing:
        say(f"{one_line(missing.message[:1].upper() + missing.message[1:])}.", err=True)
    if not yes and not confirmed("Give the old log up and begin a new one?"):
        sys.exit(1)
    kept, held = restart_log(settings, decided_by=this_person())
    say(f"Began a new log. The key of the old one is {as_name(str(kept))}.", err=True)
    for name in held:
        say(f"Quarantined: {as_name(f'tools/{name}')}", err=True)


@receipt.command("export", epilog="Example: coilclaw receipt export -o receipts.jsonl")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="A file instead of stdout.")
def export(output: str | None) -> None:
    """Print every receipt as one line of canonical JSON."""
    with open_app(settings_for()) as claw:
        if output is None:
            for line in claw.receipts.export():
                sys.stdout.buffer.write(line + b"\n")
            sys.stdout.buffer.flush()
            return
        fresh = Path(output + ".part")
        try:
            with fresh.open("wb") as file:
                count = sum(1 for line in claw.receipts.export() if file.write(line + b"\n"))
            fresh.replace(output)
        except OSError as error:
            fresh.unlink(missing_ok=True)
            raise click.UsageError(f"cannot write {output}: {error.strerror}") from None
    say(f"{counted(count, 'receipt')} in {as_name(output)}", err=True)
