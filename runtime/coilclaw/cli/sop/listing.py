"""`coilclaw sop list` and `coilclaw sop validate`: the SOPs of the workspace as they are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from coilclaw.agent.sop import InvalidSop, NoSuchSop, read_sop, read_sop_file, sop_names, sop_path
from coilclaw.cli.opening import load_registry, open_app, settings_for
from coilclaw.cli.terminal import counted, say, say_json, say_wrapped, show_problem
from coilclaw.sdk.legible import as_name, one_line

if TYPE_CHECKING:
    from coilclaw.bridge import Registry

__all__ = ["list_sops", "validate"]

_SHOWN_RUNS: Final = 10


@click.command("list", epilog="Example: coilclaw sop list --json")
@click.option("--workspace", metavar="DIR", help="The workspace whose SOPs are listed.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def list_sops(workspace: str | None, as_json: bool) -> None:
    """List the SOPs of the workspace, and their latest runs."""
    settings = settings_for(workspace)
    place = settings.config.workspace_dir.resolve()
    with open_app(settings, record=False) as claw:
        runs, registry = claw.runs.sops.list(limit=_SHOWN_RUNS), claw.tools.registry
    found = [_facts(place, name, registry) for name in sop_names(place)]
    if as_json:
        listed = [{"run_id": each.run_id, "name": each.name, "status": each.state} for each in runs]
        say_json({"sops": found, "runs": listed})
        return
    for each in found:
        about = counted(each["steps"], "step") if each["valid"] else counted(len(each["problems"]), "problem")
        say_wrapped(f"{as_name(each['name'])}  ", one_line(f"{about}  {each['description']}".rstrip()))
    if not found:
        say(f"No SOPs: write one to {as_name(str(place / sop_path('NAME')))}", err=True)
    if runs:
        say("Latest runs:", err=True, dim=True)
    for run in runs:
        say(f"{as_name(run.run_id)}  {one_line(run.state)}  {as_name(run.name)}")


@click.command("validate", epilog="Example: coilclaw sop validate daily-check")
@click.argument("name", required=False)
@click.option("--workspace", metavar="DIR", help="The workspace whose SOPs are checked.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def validate(name: str | None, workspace: str | None, as_json: bool) -> None:
    """Check the SOP called NAME, or all of them, and report every problem at once. Exit code 2 if there is one."""
    settings = settings_for(workspace)
    place, registry = settings.config.workspace_dir.resolve(), load_registry(settings)
    if name is not None:
        read_sop_file(place, name)  # One that is asked for by its name must be there.
    found = [_facts(place, each, registry) for each in ([name] if name is not None else sop_names(place))]
    if as_json:
        say_json(found)
    for each in () if as_json else found:
        if each["valid"]:
            say(f"Valid: {as_name(sop_path(each['name']))}")
        else:
            show_problem(InvalidSop(sop_path(each["name"]), each["problems"]))
    if not found:
        say("There are no SOPs.", err=True)
    sys.exit(0 if all(each["valid"] for each in found) else 2)


def _facts(place: Path, name: str, registry: Registry) -> dict[str, Any]:
    facts: dict[str, Any] = {"name": name, "valid": True, "description": "", "steps": 0, "problems": []}
    try:
        found = read_sop(name, read_sop_file(place, name), registry)
        return {**facts, "description": found.description, "steps": len(found.steps)}
    except InvalidSop as error:
        return {**facts, "valid": False, "problems": error.problems}
    except NoSuchSop as error:
        return {**facts, "valid": False, "problems": [error.message]}
