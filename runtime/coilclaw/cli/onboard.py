"""`coilclaw onboard`: from nothing to a first answer. Asks for what the command line does not say."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Final

import click

from coilclaw.cli.init import set_up
from coilclaw.cli.opening import settings_for
from coilclaw.cli.paging import chosen, typed_line
from coilclaw.cli.secret_input import read_secret
from coilclaw.cli.terminal import say
from coilclaw.config import is_variable_name
from coilclaw.sdk import OperatorError
from coilclaw.sdk.frozen import Frozen
from coilclaw.sdk.legible import as_name, one_line
from coilclaw.sdk.private_file import replace_file

if TYPE_CHECKING:
    from coilclaw.config import Settings

__all__ = ["onboard"]

_KINDS: Final = ("mock", "anthropic", "openai-compatible")
_NAMES: Final = {"mock": "local", "anthropic": "claude", "openai-compatible": "openai_compatible"}
_LOCAL_SERVER: Final = "http://localhost:1234/v1"
_HELLO: Final = "Hello! In one sentence: what can you do for me?"


class _Choice(Frozen):
    """A model service, as the configuration describes it."""

    name: str
    table: dict[str, str]

    @property
    def text(self) -> str:
        import json

        # JSON's escapes are TOML's, and a dollar sign would begin a variable.
        quoted = {key: json.dumps(value).replace("$", "$$") for key, value in self.table.items()}
        lines = "".join(f"{key} = {value}\n" for key, value in quoted.items())
        return f"\n[providers.models.{self.name}]\n{lines}"


@click.command(
    epilog="Example: coilclaw onboard --yes --workspace ~/tools --provider anthropic --key-env ANTHROPIC_API_KEY"
)
@click.option("--workspace", metavar="DIR", help="Where the workspace is (default: ~/coilclaw-workspace).")
@click.option("--provider", "kind", type=click.Choice(_KINDS), help="The kind of model service.")
@click.option("--base-url", metavar="URL", help="The address of an openai-compatible server.")
@click.option("--model", metavar="NAME", help="The model to use.")
@click.option("--key-env", metavar="NAME", help="The environment variable that has the key.")
@click.option("--key-stdin", is_flag=True, help="Read the key from standard input, and keep it as an auth profile.")
@click.option("--first-run/--no-first-run", default=True, help="Ask the model for a first answer (default: yes).")
@click.option("--yes", "--non-interactive", "yes", is_flag=True, help="Ask nothing; use defaults for the rest.")
def onboard(
    workspace: str | None,
    kind: str | None,
    base_url: str | None,
    model: str | None,
    key_env: str | None,
    key_stdin: bool,
    first_run: bool,
    yes: bool,
) -> None:
    """Set up a home, a workspace, a model service and its key, and ask for a first answer.

    Everything can be changed later: `config.toml` has the settings, `coilclaw auth` the keys. What is there already
    stays as it is.
    """
    if key_env is not None and key_stdin:
        raise click.UsageError("--key-env and --key-stdin exclude each other")
    if key_env is not None and not is_variable_name(key_env):  # It may be the key itself.
        raise OperatorError("--key-env takes the name of an environment variable", hint="such as ANTHROPIC_API_KEY")
    asks = not yes and not key_stdin
    if asks and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise OperatorError("nobody is there to answer", hint="run it on a terminal, or add --yes")
    place = workspace or (_asked("Workspace", str(settings_for().config.workspace_dir)) if asks else None)
    set_up(place)
    choice = _service(kind, base_url, model, key_env, asks)
    _configure(settings_for(), choice)
    _keep_key(settings_for(), choice, asks and key_env is None, key_stdin)
    if first_run:
        _first_answer()
    say()
    say('Next:  coilclaw agent        a session;  coilclaw agent -m "…" answers one message')


def _asked(question: str, default: str) -> str:
    """What the person at the terminal types; the default if nothing."""
    return (typed_line(f"{question} [{one_line(default)}]: ", cancelled=lambda: False) or "").strip() or default


def _service(kind: str | None, base_url: str | None, model: str | None, key_env: str | None, asks: bool) -> _Choice:
    if kind is None:
        kind = chosen("Which model service?", _KINDS, "mock") if asks else "mock"
    table = {"kind": kind}
    if kind == "openai-compatible":
        table["base_url"] = base_url or (_asked("Address of the server", _LOCAL_SERVER) if asks else _LOCAL_SERVER)
        table["model"] = model or (_asked("Model", "local-model") if asks else "local-model")
    elif base_url is not None:
        raise click.UsageError("--base-url is for openai-compatible servers")
    elif model is not None:
        table["model"] = model
    if key_env is not None and kind != "mock":
        table["api_key_env"] = key_env
    return _Choice(name=_NAMES[kind], table=table)


def _configure(settings: Settings, choice: _Choice) -> None:
    """Name the service in config.toml, and describe it there unless that was done before."""
    text = settings.path.read_text(encoding="utf-8")
    is_new = choice.name not in settings.config.providers.models
    changed = _with_default(text, choice.name) + (choice.text if is_new else "")
    if changed != text:
        replace_file(settings.path, changed.encode())
    if not is_new and choice.table["kind"] != "mock":
        shown = as_name(str(settings.path))
        say(f"{shown} describes {choice.name} already; it is used as it stands there.", err=True)
    say(f"Model service: {choice.name} ({choice.table['kind']})")


def _with_default(text: str, name: str) -> str:
    """The same file with another default_provider, which is a key of its top."""
    top, bracket, tables = text.partition("\n[")
    line = f'default_provider = "{name}"'
    changed, found = re.subn(r"(?m)^default_provider\s*=.*$", line, top, count=1)
    return (changed if found else f"{line}\n{top}") + bracket + tables


def _keep_key(settings: Settings, choice: _Choice, asks: bool, piped: bool) -> None:
    if choice.table["kind"] == "mock":
        return
    from coilclaw.providers import ProfileStore, pasted_profile

    store, profile = ProfileStore(settings.home), f"{choice.name}:default"
    if asks:
        say("The key is kept for you alone, and not shown. Leave it empty to add one later.", err=True)
        key = read_secret("Key", optional=True)
    else:
        key = read_secret("Key", piped=True) if piped else ""
    if key:
        store.add(profile, pasted_profile(choice.name, "api_key", key), preferred=True)
        say(f"Kept the key as {as_name(profile)} in {as_name(str(store.path))}", err=True)
    elif asks:
        say(f"No key was kept; `coilclaw auth add {choice.name}` adds one.", err=True)


def _first_answer() -> None:
    """Show that it works. A service that does not answer is a problem of its own: everything else is set up."""
    from coilclaw.cli.agent.command import answer_once

    say()
    say(f"> {_HELLO}", dim=True)
    if answer_once(_HELLO) != 0:
        say("The model service did not answer; everything else is set up. `coilclaw provider test` tries it.", err=True)
