"""`coilclaw init` and `coilclaw setup`: a home, a configuration and a workspace to start with, and the sandbox."""

from __future__ import annotations

import os
from pathlib import Path

import click

from coilclaw.cli.opening import expanded, open_app, settings_for
from coilclaw.cli.terminal import say
from coilclaw.config import config_text, load_settings
from coilclaw.sdk import OperatorError
from coilclaw.sdk.legible import as_name

__all__ = ["init", "set_up", "setup"]

_STARTER_TOOL = '''\
"""A tool of your own. Change it and call it again: `coilclaw run hello.py`."""

from coilclaw.sdk import ToolContext, define_tool


@define_tool(id="hello.greet", risk="read", examples=[{"name": "Ada"}], summary="Greeted {name}")
def greet(ctx: ToolContext, name: str) -> str:
    """A friendly greeting."""
    return f"Hello, {name}!"
'''

_STARTER_SCRIPT = """\
# Runs in the sandbox: the only thing it can reach is `tools`.
result = tools.hello.greet(name="world")
print(result.unwrap())
print("It is", tools.time.now().unwrap()["utc"])
"""


@click.command(epilog="Example: coilclaw init --workspace ~/my-tools")
@click.option("--workspace", metavar="DIR", help="Where the workspace is (default: ~/coilclaw-workspace).")
def init(workspace: str | None) -> None:
    """Set up CoilClaw's home folder, the configuration and a workspace. What exists already is left as it is."""
    place = set_up(workspace)
    # The file may name another workspace, whose tools the script does not mean.
    option = f"--workspace {as_name(str(place))} " if settings_for().config.workspace_dir != place else ""
    say()
    say(f"Try it:  coilclaw run {option}{as_name(str(place / 'hello.py'))}")


def set_up(workspace: str | None, *, changes_follow: bool = False) -> Path:
    """Make what is missing of the home folder and a workspace, say what was made, and return the workspace.

    With `changes_follow`, whoever calls this says what was changed in the end.
    """
    given = {"workspace_dir": str(expanded(workspace).absolute())} if workspace else {}
    chosen = load_settings(os.environ, given)  # Refused before anything is made.
    home, path, place = chosen.home, chosen.path, chosen.config.workspace_dir
    if place.exists() and not place.is_dir():
        raise OperatorError(f"the workspace {place} is not a folder")
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        is_new = not path.exists()
        if is_new:
            path.write_text(config_text(place), encoding="utf-8")
            say(f"Wrote {as_name(str(path))}")
        elif workspace:
            shown = as_name(str(path))
            say(f'{shown} exists already; set workspace_dir = "{place}" in it to use this workspace.', err=True)
        settings = settings_for()
        is_new = _make_workspace(place) or is_new
    except OSError as error:
        raise OperatorError(
            f"cannot set up {error.filename or home}: {error.strerror}", hint="set COILCLAW_HOME to another folder"
        ) from None
    if not is_new and not changes_follow:
        say("Everything is there already; nothing was changed.")
    with open_app(settings) as claw:
        claw.receipts.latest(1)
        say(f"Receipts are kept in {as_name(str(settings.config.receipts.path))}")
    say(f"Workspace: {as_name(str(place))}")
    return place


@click.command(epilog="Example: coilclaw setup")
def setup() -> None:
    """Compile the sandbox for this machine, so that the first run starts at once."""
    with open_app(settings_for()) as claw:
        say(f"Ready: {claw.engines.get('wasm').build}")


def _make_workspace(place: Path) -> bool:
    """Make the folder and a first tool; False if there are tools already."""
    place.mkdir(parents=True, exist_ok=True)
    tools = place / "tools"
    if tools.exists():
        return False
    (tools / "hello").mkdir(parents=True)
    (tools / "hello/greetings.py").write_text(_STARTER_TOOL, encoding="utf-8")
    script = place / "hello.py"
    if not script.exists():
        script.write_text(_STARTER_SCRIPT, encoding="utf-8")
    return True
