"""`coilclaw run`: one snippet, from source to receipts."""

from __future__ import annotations

import gc
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, TextIO

import click

from coilclaw.cli.approval import approver_for
from coilclaw.cli.composition import make_engine, open_parts, run_limits, settings_for, show_diagnostics
from coilclaw.cli.terminal import json_value, pass_through, printable
from coilclaw.evidence import activity_of
from coilclaw.runs import RunReport
from coilclaw.sandbox import Deadline, Snippet
from coilclaw.sdk import RelevantToolActivity

__all__ = ["run"]

_RESERVED = {"tools", "Ok", "Err", "Result", "ToolCallError"}
_COLOURS = {"succeeded": "green", "failed": "red", "denied": "yellow", "pending": "cyan"}


@click.command(epilog="Example: coilclaw run report.py --input 'site=\"example.org\"' --timeout 30")
@click.argument("file", type=click.Path(allow_dash=True))
@click.option("--engine", type=click.Choice(["wasm", "restricted"]), help="The sandbox engine.")
@click.option("--workspace", metavar="DIR", help="The workspace whose tools and files are used.")
@click.option("--input", "inputs", multiple=True, metavar="NAME=JSON", help="A variable the snippet starts with.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="Wall time of the run.")
@click.option("--memory", type=click.IntRange(64, 4096), metavar="MIB", help="Memory of the sandbox.")
@click.option("--yes", is_flag=True, help="Approve every call that asks. What policy denies stays denied.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def run(
    file: str,
    engine: str | None,
    workspace: str | None,
    inputs: tuple[str, ...],
    timeout: float | None,
    memory: int | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Run the Python snippet in FILE (or '-' for standard input) in the sandbox.

    The snippet's output and value go to stdout, everything else to stderr. Exit codes: 0 completed;
    1 any other end; 2 wrong usage; 3 approval needed; 4 credentials needed; 130 interrupted.
    """
    snippet = Snippet(source=_source(file), name=_name(file), inputs=_inputs(inputs))
    settings = settings_for(workspace, sandbox__engine=engine, limits__seconds=timeout, limits__memory_mib=memory)
    limits = run_limits(settings.config)
    deadline = Deadline(limits.seconds)
    sandbox = make_engine(settings)  # First: what it starts gets ready while the rest is loaded.
    with open_parts(settings, approver_for(yes, deadline)) as parts:
        show_diagnostics(parts.registry)
        # Nothing that was loaded so far is garbage; looking through it again would interrupt the run.
        gc.freeze()
        deadline.restart()  # Compiling the sandbox is not the run's time.
        display = _Display(deadline, sys.stdout, quiet=as_json)
        with redirect_stdout(sys.stderr):  # What tools print is not this command's output.
            report = parts.runtime.run(snippet, sandbox, parts.registry, limits, deadline=deadline, show=display)
        receipts = parts.log.of_run(report.run_id, since=report.first_receipt) if report.first_receipt else []
        activity = activity_of(report.run_id, receipts)
    if as_json:
        click.echo(json.dumps(_object(report, activity)))
    else:
        _print(report, activity)
    sys.exit(_exit_code(report))


def _source(file: str) -> str:
    try:
        if file == "-" and sys.stdin is None:
            raise click.UsageError("there is no standard input to read from")
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise click.UsageError(f"cannot read {printable(file)}: {error.strerror}") from None
    if b"\0" in data[:65536]:
        raise click.UsageError(f"{_name(file)} is a binary file, not Python source")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise click.UsageError(f"{_name(file)} is not UTF-8 text") from None


def _name(file: str) -> str:
    return "snippet.py" if file == "-" else Path(file).name


def _inputs(given: tuple[str, ...]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise click.BadParameter(f"{text!r} is not NAME=JSON", param_hint="--input")
        if name in _RESERVED:
            raise click.BadParameter(f"{name!r} is a name of the sandbox itself", param_hint="--input")
        try:
            values[name] = json_value(value)
        except ValueError as error:
            raise click.BadParameter(
                f"the value of {name} is not JSON: {error}. Strings need quotes: --input '{name}=\"text\"'",
                param_hint="--input",
            ) from None
    return values


class _Display:
    """Shows what a snippet prints, as it comes; a reader that goes away ends the run."""

    def __init__(self, deadline: Deadline, stdout: TextIO, *, quiet: bool) -> None:
        self._deadline = deadline
        self._stdout = stdout
        self._quiet = quiet

    def __call__(self, stream: int, text: str) -> None:
        try:
            if stream != 1:
                click.echo(pass_through(text, err=True), nl=False, err=True, color=True)
            elif not self._quiet:
                click.echo(pass_through(text, err=False, stream=self._stdout), nl=False, file=self._stdout, color=True)
        except OSError:
            self._deadline.cancel()


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _object(report: RunReport, activity: RelevantToolActivity) -> dict[str, Any]:
    error = report.error
    return {
        "run_id": report.run_id,
        "status": report.status,
        "engine": report.engine,
        "value": report.value,
        "stdout": report.stdout,
        "error": None
        if error is None
        else {
            "type": error.type,
            "message": error.message,
            "line": error.line,
            "traceback": error.traceback,
            "hint": error.hint,
        },
        "activity": [item.model_dump() for item in activity.items],
        "duration_ms": report.duration_ms,
    }


def _print(report: RunReport, activity: RelevantToolActivity) -> None:
    if report.stdout and not report.stdout.endswith("\n"):
        click.echo()
    if report.value is not None:
        click.echo(printable(_encodable(json.dumps(report.value, indent=2, ensure_ascii=False))))
    error = report.error
    if error is not None:
        if error.traceback and report.status == "failed":
            click.echo(printable(_encodable(error.traceback)).rstrip(), err=True)
        else:
            where = f" (line {error.line})" if error.line else ""
            click.secho(printable(_encodable(f"{error.type}: {error.message}{where}")), err=True, fg="red")
        if error.hint:
            click.echo(f"Hint: {printable(_encodable(error.hint))}", err=True)
    for item in activity.items:
        approval = f"  ({printable(item.approval)})" if item.approval else ""
        mark = click.style(f"{item.status:<9}", fg=_COLOURS[item.status])
        click.echo(f"  {mark} {printable(item.tool_id):<28} {item.receipt_ref}{approval}", err=True)
    calls = "1 call" if len(activity.items) == 1 else f"{len(activity.items)} calls"
    colour = "green" if report.status == "completed" else "red"
    status = click.style(report.status, fg=colour)
    click.echo(f"{status} in {report.duration_ms:.0f} ms, {calls}, {report.run_id}", err=True)


def _exit_code(report: RunReport) -> int:
    match report.status:
        case "completed":
            return 0
        case "suspended":
            return 3
        case "cancelled":
            return 130
    if "approval_required" in report.unmet:
        return 3
    return 4 if "missing_secret" in report.unmet else 1
