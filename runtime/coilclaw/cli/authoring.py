"""`coilclaw tool new`, `check`, `test` and `reload`: for people who write tools."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coilclaw.cli.opening import load_registry, open_app, settings_for, show_diagnostics
from coilclaw.cli.terminal import Styled, counted, say, say_json, styled, warn
from coilclaw.sdk import OperatorError, Risk, Tool
from coilclaw.sdk.legible import as_name, cells, legible_lines, one_line

if TYPE_CHECKING:
    from coilclaw.app import Tools, Trial
    from coilclaw.config import Settings
    from coilclaw.workspace_tools import checks

__all__ = ["check", "new", "reload", "test"]

_workspace = click.option("--workspace", metavar="DIR", help="The workspace whose tools are meant.")
_LONGEST_EXAMPLE = 80
_COLOURS = {"error": "red", "warning": "yellow", "hint": "blue"}


@click.command("new", epilog="Example: coilclaw tool new posthog.analytics.get_visitors --host app.posthog.com")
@click.argument("tool_id", metavar="ID")
@click.option(
    "--risk", type=click.Choice([each.value for each in Risk]), default="read", help="What a call can change."
)
@click.option("--host", "hosts", multiple=True, metavar="HOST", help="A server it calls; may be given again.")
@click.option("--secret", "secrets", multiple=True, metavar="NAME", help="A secret it needs; may be given again.")
@_workspace
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def new(
    tool_id: str, risk: str, hosts: tuple[str, ...], secrets: tuple[str, ...], workspace: str | None, as_json: bool
) -> None:
    """Write a tool that works, and a test that passes. What exists is left as it is."""
    from coilclaw.workspace_tools import scaffold

    settings = settings_for(workspace)
    place = settings.config.workspace_dir
    if not place.is_dir():
        raise OperatorError(f"the workspace {place} does not exist", hint="coilclaw init")
    planned = scaffold.plan_tool(place, tool_id, risk=Risk(risk), hosts_needed=hosts, secrets_needed=secrets)
    if (other := load_registry(settings).tools.get(tool_id)) is not None:
        raise OperatorError(
            f"there is a tool {tool_id} already, in {other.file}:{other.line}", hint="choose another id"
        )
    scaffold.write_scaffold(planned)
    if as_json:
        say_json({"id": tool_id, "file": str(planned.file), "test_file": str(planned.test_file), "risk": risk})
        return
    say(f"Wrote {_shown(planned.file)}")
    say(f"Wrote {_shown(planned.test_file)}")
    say()
    say("What comes next:")
    python = shlex.quote(as_name(sys.executable))
    steps = [
        ("edit the file", _shown(planned.file)),
        *((f"set the secret {name}", f"coilclaw secret set {name}") for name in secrets),
        ("look for mistakes", "coilclaw tool check"),
        ("call it", f"coilclaw tool run {tool_id} name=Ada"),
        *([] if find_spec("pytest") else [("install pytest", f"{python} -m pip install pytest")]),
        ("test it", f"{python} -m pytest {shlex.quote(_shown(planned.test_file))}"),
        ("see changes as you save", "coilclaw dev"),
    ]
    width = max(len(what) for what, _ in steps)
    for what, how in steps:
        say(f"  {what:<{width}}  {how}")


@click.command("check", epilog="Example: coilclaw tool check posthog.analytics.get_visitors")
@click.argument("names", metavar="[NAME|PATH]...", nargs=-1)
@_workspace
@click.option("--strict", is_flag=True, help="Let warnings fail the check too.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def check(names: tuple[str, ...], workspace: str | None, strict: bool, as_json: bool) -> None:
    """Check the workspace's tools, and say what to do about mistakes. No tool is called."""
    from coilclaw.workspace_tools import checks

    settings = settings_for(workspace)
    place = settings.config.workspace_dir
    with open_app(settings, record=False) as claw:
        registry, mine = claw.tools.registry, claw.tools.own
        findings = checks.check_tools(
            place, mine, registry.diagnostics, quarantined=registry.quarantined, secret_present=claw.tools.has_secret
        )
    looked_at = {str(file) for file in checks.tool_files(place)}
    if names:
        looked_at, unknown = checks.files_meant(place, names, mine)
        if unknown:
            raise click.UsageError(
                f"{unknown[0]!r} is no tool, integration or file of {place}; see: coilclaw tool list"
            )
        # An id that stands twice is told once, and the other place is in the message.
        findings = [
            each for each in findings if any(file == each.file or f"{file}:" in each.message for file in looked_at)
        ]
    counts = {level: sum(each.level == level for each in findings) for level in ("error", "warning", "hint")}
    if as_json:
        facts = {**{f"{level}s": count for level, count in counts.items()}, "files": len(looked_at)}
        say_json({"findings": [asdict(each) for each in findings], **facts})
    else:
        for each in findings:
            _show_finding(each)
        loaded = sum(each.file in looked_at for each in mine)
        say(f"{_counted(counts)} in {counted(len(looked_at), 'file')}, {counted(loaded, 'tool')} loaded")
    if counts["error"] or (strict and counts["warning"]):
        sys.exit(1)


@click.command("test", epilog="Example: coilclaw tool test posthog --json")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@_workspace
@click.option("--writes", is_flag=True, help="Call write and destructive tools too; policy still asks.")
@click.option("--yes", is_flag=True, help="With --writes: approve calls that need it.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def test(names: tuple[str, ...], workspace: str | None, writes: bool, yes: bool, as_json: bool) -> None:
    """Call tools with the examples of their contracts, on the way that every call takes, receipts included.

    The examples of tools that write are only validated, unless --writes is given.
    """
    if yes and not writes:
        raise click.UsageError("--yes is about calls that write; it goes with --writes")
    settings = settings_for(workspace)
    trials: list[Trial] = []
    for trial in _tried(settings, names, writes=writes, yes=yes):
        trials.append(trial)
        if not as_json:
            _show_trial(trial)
    counts = {status: sum(each.status == status for each in trials) for status in ("passed", "checked", "failed")}
    if as_json:
        say_json({"examples": [asdict(each) for each in trials], **counts})
    else:
        parts = [f"{counts['passed']} passed", f"{counts['failed']} failed"]
        if counts["checked"]:
            parts.append(f"{counts['checked']} not called (--writes calls them)")
        say(", ".join(parts) if trials else "There are no examples to try; add examples=[…] to a contract.")
    if counts["failed"]:
        sys.exit(1)


@click.command("reload", epilog="Example: coilclaw tool reload --json")
@_workspace
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def reload(workspace: str | None, as_json: bool) -> None:
    """Load every tool file again and report the outcome.

    Saving a file is enough for processes that watch the workspace; this is for the times when
    something outside the files changed, such as a package that a tool imports.
    """
    from coilclaw.workspace_tools import ask_to_reload

    settings = settings_for(workspace)
    root = settings.config.workspace_dir / "tools"
    if not root.is_dir():
        raise OperatorError(f"{root} does not exist", hint="coilclaw tool new example.hello.say makes a first tool")
    with open_app(settings) as claw:
        change = claw.tools.loaded
        try:
            ask_to_reload(root)
        except OSError as error:
            warn(f"other processes were not told, {root}: {error.strerror}")
        registry, own = claw.tools.registry, [tool.id for tool in claw.tools.own]
    if as_json:
        facts = {
            "generation": registry.generation,
            "tools": own,
            "failed": [f"tools/{name}" for name in change.failed],
            "quarantined": [held.name for held in registry.quarantined],
            "milliseconds": round(change.seconds * 1000, 3),
        }
        say_json(facts)
    else:
        show_diagnostics(registry)
        count = counted(len(own), "tool")
        say(f"Loaded {count} of {as_name(str(root))} in {change.seconds * 1000:.0f} ms.")
    sys.exit(1 if change.failed else 0)


def _tried(settings: Settings, names: Sequence[str], *, writes: bool, yes: bool) -> Iterator[Trial]:
    """Every example of the tools meant: those named, or all of the workspace."""
    from coilclaw.app import try_example
    from coilclaw.cli.approver import approver_for
    from coilclaw.cli.waiting import command_caller, warn_if_stopped
    from coilclaw.policy import NobodyToAsk
    from coilclaw.sandbox import Deadline

    place = settings.config.workspace_dir
    with open_app(settings) as claw:
        warn_if_stopped(claw)
        for tool in _meant(claw.tools, names):
            for example in tool.examples:
                deadline = Deadline(settings.config.limits.seconds)
                approver = approver_for(yes, deadline, workspace=place) if writes else NobodyToAsk()
                caller = command_caller(approver=approver, suspends=False)
                with redirect_stdout(sys.stderr):  # What a tool prints is not the report.
                    trial = try_example(claw, tool, example, writes=writes, caller=caller, deadline=deadline)
                if trial.status == "cancelled":
                    raise KeyboardInterrupt  # The person wants to stop, not to go on with the next example.
                yield trial


def _meant(tools: Tools, names: Sequence[str]) -> Sequence[Tool]:
    if not names:
        return tools.own
    meant: dict[str, Tool] = {}
    for name in names:
        exact = tools.get(name)
        found = [exact] if exact else [each for each in tools if each.id.startswith(f"{name}.")]
        if not found:
            raise click.UsageError(f"there is no tool {name!r}; {tools.registry.suggestion(name)}")
        meant.update((each.id, each) for each in found)
    return list(meant.values())


def _shown(file: str | Path) -> str:
    """A path as a person would type it here."""
    place = Path(file)
    try:
        here = Path.cwd()
    except OSError:  # The folder we stand in is gone.
        return as_name(str(place))
    return as_name(str(place.relative_to(here) if place.is_relative_to(here) else place))


def _show_finding(finding: checks.Finding) -> None:
    where = _shown(finding.file) + (f":{finding.line}" if finding.line else "")
    level = styled(finding.level, fg=_COLOURS[finding.level], bold=True)
    _say_indented(f"{where}: ", level, ": ", text=finding.message)
    if finding.excerpt is not None:
        number = str(finding.line)
        # Tabs would put the mark somewhere else than under what is meant.
        excerpt = finding.excerpt.replace("\t", " ")
        say(f"  {number} | {one_line(excerpt)}")
        if finding.column and finding.column <= len(excerpt) + 1:
            say(f"  {' ' * len(number)} | {' ' * cells(one_line(excerpt[: finding.column - 1]))}^")
    if finding.hint:
        _say_indented("  Fix: ", text=finding.hint)


def _say_indented(*before: str | Styled, text: str, after: str = "") -> None:
    """Print text that may come out of a file: its further lines cannot pass for lines of ours."""
    first, *more = legible_lines(text)
    say(*before, first, "" if more else after)
    for number, line in enumerate(more, 1):
        say(f"      | {line}", after if number == len(more) else "")


def _show_trial(trial: Trial) -> None:
    marks = {"passed": styled("✓", fg="green"), "failed": styled("✗", fg="red"), "checked": styled("·")}
    example = one_line(json.dumps(trial.example, default=str), _LONGEST_EXAMPLE)
    took = f" in {trial.milliseconds:.0f} ms"
    _say_indented(marks[trial.status], f" {as_name(trial.tool)} {example}: ", text=trial.outcome, after=took)
    if trial.hint:
        _say_indented("  Fix: ", text=trial.hint)


def _counted(counts: dict[str, int]) -> str:
    parts = [counted(count, level) for level, count in counts.items() if count]
    return ", ".join(parts) or "Nothing to change"
