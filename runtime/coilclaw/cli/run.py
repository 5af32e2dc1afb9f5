"""`coilclaw run`: one snippet, from source to receipts."""

from __future__ import annotations

import gc
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from coilclaw.app import CoilClaw
from coilclaw.cli.arguments import json_value, named_texts
from coilclaw.cli.opening import settings_for, show_diagnostics
from coilclaw.cli.remote.connecting import refuse_with_server, server_option
from coilclaw.cli.run_report import Display, show_end, workspace_option
from coilclaw.cli.waiting import open_run_place
from coilclaw.sandbox import Deadline, Snippet
from coilclaw.sdk.legible import as_name

__all__ = ["run"]


class _Run(click.Command):
    """Runs a file, unless the first argument is `list` or `show`: those have commands of their own."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if args[:1] not in (["list"], ["show"]):
            return super().make_context(info_name, args, parent, **extra)
        from coilclaw.cli.runs import list_runs, show_run

        command = list_runs if args[0] == "list" else show_run
        return command.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)


@click.command(cls=_Run, epilog="Example: coilclaw run report.py --input 'site=\"example.org\"' --timeout 30")
@click.argument("file", type=click.Path(allow_dash=True))
@click.option("--engine", type=click.Choice(["wasm", "restricted"]), help="The sandbox engine.")
@click.option("--workspace", metavar="DIR", help="The workspace whose tools and files are used.")
@click.option("--input", "inputs", multiple=True, metavar="NAME=JSON", help="A variable the snippet starts with.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="Wall time of the run.")
@click.option("--memory", type=click.IntRange(64, 4096), metavar="MIB", help="Memory of the sandbox.")
@click.option("--yes", is_flag=True, help="Approve every call that needs approval. What policy denies stays denied.")
@click.option("--wait", is_flag=True, help="Ask nobody here; stay until the decision is made elsewhere.")
@click.option("--dry-run", is_flag=True, help="Only read; print what it would do. Writes get made-up answers.")
@click.option("--approve-plan", is_flag=True, help="Rehearse first; one yes then allows exactly the calls shown.")
@click.option("--retry-of", metavar="RUN", help="Answer the same writes that succeeded in RUN from its receipts.")
@server_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def run(
    file: str,
    engine: str | None,
    workspace: str | None,
    inputs: tuple[str, ...],
    timeout: float | None,
    memory: int | None,
    yes: bool,
    wait: bool,
    dry_run: bool,
    approve_plan: bool,
    retry_of: str | None,
    server: str | None,
    as_json: bool,
) -> None:
    """Run the Python snippet in FILE (or '-' for standard input) in the sandbox.

    The snippet's output and value go to stdout, everything else to stderr. Exit codes: 0 completed;
    1 any other end; 2 wrong usage; 3 approval needed; 4 credentials needed; 130 interrupted.

    A call that needs approval while nobody is at the terminal suspends the run. Once it is decided, hours later if need
    be, `coilclaw resume` continues the run.

    \b
    coilclaw run list       List runs, newest first.
    coilclaw run show RUN   Show a run again as it ended.
    A file called `list` or `show` is run as ./list.
    """
    if retry_of is not None and (dry_run or approve_plan):
        raise click.UsageError("--retry-of goes with neither --dry-run nor --approve-plan")
    refuse_with_server(server, workspace=workspace, dry_run=dry_run, approve_plan=approve_plan)
    snippet = Snippet(source=_source(file), name=_name(file), inputs=_inputs(inputs))
    settings = settings_for(workspace, sandbox__engine=engine, limits__seconds=timeout, limits__memory_mib=memory)
    deadline = Deadline(settings.config.limits.seconds)
    options = workspace_option(workspace)
    # Whoever says yes to a plan in advance has not said it to what is not in the plan.
    with open_run_place(settings, deadline, yes=yes and not approve_plan, wait=wait, server=server) as command:
        claw = command.claw
        if (here := command.here) is not None:
            here.claw.engines.get()  # First: what it starts gets ready while the rest is loaded.
            show_diagnostics(here.claw.tools.registry)
        if not isinstance(claw, CoilClaw):
            claw.engine, claw.timeout, claw.memory_mib = engine, timeout, memory
        # Nothing that was loaded so far is garbage; looking through it again would interrupt the run.
        gc.freeze()
        approved = None
        if approve_plan and here is not None:
            from coilclaw.cli.plan import approved_plan

            approved = approved_plan(here, snippet, yes=yes)
        elif dry_run and here is not None:
            from coilclaw.cli.plan import show_rehearsal

            show_rehearsal(here, snippet, as_json=as_json)
        shown = Display(deadline, sys.stdout, quiet=as_json, asks=not yes)
        caller = replace(command.caller, show=shown, display=shown.display)
        with redirect_stdout(sys.stderr):  # What tools print is not this command's output.
            report = claw.run(
                snippet.source,
                inputs=snippet.inputs,
                name=snippet.name,
                deadline=deadline,
                caller=caller,
                plan=approved,
                retry_of=retry_of,
            )
    show_end(report, options=options, as_json=as_json, elsewhere=command.elsewhere)


def _source(file: str) -> str:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        place = "standard input" if file == "-" else as_name(file)
        raise click.UsageError(f"cannot read {place}: {error.strerror}") from None
    if b"\0" in data[:65536]:
        raise click.UsageError(f"{as_name(_name(file))} is a binary file, not Python source")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise click.UsageError(f"{as_name(_name(file))} is not UTF-8 text") from None


def _name(file: str) -> str:
    return "snippet.py" if file == "-" else Path(file).name


def _inputs(given: tuple[str, ...]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    from coilclaw.app import RESERVED_NAMES

    for name, value in named_texts(given, "NAME=JSON", "--input").items():
        if not name.isidentifier():
            raise click.BadParameter(f"{name!r} is not a name in Python", param_hint="--input")
        if name in RESERVED_NAMES:
            raise click.BadParameter(f"{name!r} is a name of the sandbox itself", param_hint="--input")
        try:
            values[name] = json_value(value)
        except ValueError as error:
            raise click.BadParameter(
                f"the value of {name} is not JSON: {error}. Strings need quotes: --input '{name}=\"text\"'",
                param_hint="--input",
            ) from None
    return values
