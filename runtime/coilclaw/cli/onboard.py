"""`coilclaw onboard`: from nothing to a first answer. Asks for what the command line does not say."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from coilclaw.cli.init import set_up
from coilclaw.cli.opening import expanded, settings_for
from coilclaw.cli.paging import chosen, typed_line
from coilclaw.cli.secret_input import read_secret
from coilclaw.cli.terminal import say, say_wrapped
from coilclaw.config import address_problem, is_variable_name, load_settings, with_values
from coilclaw.sdk import OperatorError
from coilclaw.sdk.frozen import Frozen
from coilclaw.sdk.legible import as_name, one_line
from coilclaw.sdk.private_file import replace_file

if TYPE_CHECKING:
    from coilclaw.config import Config, Settings

__all__ = ["onboard"]

_KINDS: Final = ("mock", "anthropic", "openai-compatible")
_NAMES: Final = {"mock": "local", "anthropic": "claude", "openai-compatible": "openai_compatible"}
_LOCAL_SERVER: Final = "http://localhost:1234/v1"
_HELLO: Final = "Hello! In one sentence: what can you do for me?"


class _Service(Frozen):
    """A model service, and what is to be written about it."""

    name: str
    kind: str
    values: Mapping[str, str]
    """Of its table in config.toml."""


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

    In a home that exists, what you say is changed and everything else stays as it is. Everything can be changed later:
    `config.toml` has the settings, `coilclaw auth` the keys. The exit code is that of the first answer.
    """
    if key_env is not None and key_stdin:
        raise click.UsageError("--key-env and --key-stdin exclude each other")
    if key_env is not None and not is_variable_name(key_env):  # It may be the key itself.
        raise OperatorError("--key-env takes the name of an environment variable", hint="such as ANTHROPIC_API_KEY")
    asks = not yes and not key_stdin
    if asks and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise OperatorError("nobody is there to answer", hint="run it on a terminal, or add --yes")
    if base_url is not None and (problem := address_problem(base_url)):
        raise click.BadParameter(f"this must be {problem}", param_hint="--base-url")
    before = settings_for()
    is_new = not before.path.exists()
    place = workspace or (_asked("Workspace", str(before.config.workspace_dir)) if asks else None)
    service = _service(before.config, kind, base_url, model, key_env, asks)
    moved = None if place is None or is_new else _checked_workspace(place)
    set_up(place if is_new else None, changes_follow=not is_new)
    _configure(settings_for(), service, moved, is_new)
    if moved is not None:
        set_up(None, changes_follow=True)
    _keep_key(settings_for(), service, asks and key_env is None, key_stdin)
    code = _first_answer() if first_run else 0
    say()
    if code:
        _tell_failed(settings_for())
        sys.exit(code)
    say('Next:  coilclaw agent        a session;  coilclaw agent -m "…" answers one message')


def _asked(question: str, default: str) -> str:
    """What the person at the terminal types; the default if nothing."""
    return (typed_line(f"{question} [{one_line(default)}]: ", cancelled=lambda: False) or "").strip() or default


def _asked_address(default: str) -> str:
    while problem := address_problem(found := _asked("Address of the server", default)):
        say(f"Please type {problem}.", err=True)
    return found


def _checked_workspace(given: str) -> str | None:
    """The folder that a home changes to; None if it is its workspace already. Raises for one that cannot be."""
    place = str(expanded(given).absolute())
    chosen = load_settings(os.environ, {"workspace_dir": place})
    return None if chosen.config.workspace_dir == settings_for().config.workspace_dir else place


def _service(
    config: Config, kind: str | None, base_url: str | None, model: str | None, key_env: str | None, asks: bool
) -> _Service:
    """The service that is meant: of the kind that is asked for, or the one that is used now."""
    current = config.providers.models[config.default_provider]
    if kind is None:
        usual = current.kind if current.kind in _KINDS else "mock"
        kind = chosen("Which model service?", _KINDS, usual) if asks else current.kind
    name = config.default_provider if kind == current.kind else _NAMES[kind]
    known = config.providers.models.get(name)
    if known is not None and known.kind != kind:
        raise OperatorError(f"the provider {name} is of kind {known.kind}", hint="describe another one in config.toml")
    values = {} if known is not None else {"kind": kind}
    if kind == "openai-compatible":
        address, before = (known.base_url, known.model) if known else (None, None)
        base_url = base_url or (_asked_address(address or _LOCAL_SERVER) if asks else address or _LOCAL_SERVER)
        model = model or (_asked("Model", before or "local-model") if asks else before or "local-model")
        values["base_url"] = base_url
    elif base_url is not None:
        raise click.UsageError("--base-url is for openai-compatible servers")
    if model is not None:
        values["model"] = model
    if key_env is not None and kind != "mock":
        values["api_key_env"] = key_env
    return _Service(name=name, kind=kind, values=values)


def _configure(settings: Settings, service: _Service, workspace: str | None, is_new: bool) -> None:
    """Write what is meant into config.toml, and say what was changed there."""
    known = settings.config.providers.models.get(service.name)
    wanted: dict[tuple[str, ...], str] = {("default_provider",): service.name}
    if workspace is not None:
        wanted["workspace_dir",] = workspace
    for key, value in service.values.items():
        wanted["providers", "models", service.name, key] = value
    now: dict[tuple[str, ...], Any] = {key: getattr(known, key[-1], None) for key in wanted if len(key) > 1}
    now["default_provider",] = settings.config.default_provider
    changes = {key: value for key, value in wanted.items() if now.get(key) != value}
    shown = as_name(str(settings.path))
    if changes:
        text = settings.path.read_text(encoding="utf-8")
        replace_file(settings.path, with_values(text, changes).encode())
        if not is_new:
            say(f"Changed in {shown}:")
            say_wrapped("  ", one_line(", ".join(".".join(key) for key in changes)))
    elif not is_new:
        say(f"{shown} says all of this already.")
    say(f"Model service: {service.name} ({service.kind})")


def _keep_key(settings: Settings, service: _Service, asks: bool, piped: bool) -> None:
    if service.kind not in ("anthropic", "openai-compatible"):
        return
    from coilclaw.cli.auth import profile_users
    from coilclaw.providers import ProfileStore, pasted_profile

    # Where a setup token is kept, too: the later of the two comes first.
    provider = "anthropic" if service.kind == "anthropic" else service.name
    store, profile = ProfileStore(settings.home), f"{provider}:default"
    if asks:
        say("The key is kept for you alone, and not shown. Leave it empty to add one later.", err=True)
        key = read_secret("Key", optional=True)
    else:
        key = read_secret("Key", piped=True) if piped else ""
    if key:
        users = profile_users(settings.config, provider)
        store.add(profile, pasted_profile(provider, "api_key", key), preferred=True, users=users)
        say(f"Kept the key as {as_name(profile)} in {as_name(str(store.path))}", err=True)
    elif asks:
        say(f"No key was kept; `coilclaw auth add {provider}` adds one.", err=True)


def _first_answer() -> int:
    """Show that it works, and return the exit code of the answer."""
    from coilclaw.cli.agent.command import answer_once

    say()
    say(f"> {_HELLO}", dim=True)
    return answer_once(_HELLO)


def _tell_failed(settings: Settings) -> None:
    say("Everything is set up, but the model service did not answer.", err=True)
    say("  Try it again:        coilclaw provider test", err=True)
    say("  Keep another key:    coilclaw auth add PROVIDER", err=True)
    say(f"  Change the service:  coilclaw onboard, or {as_name(str(settings.path))}", err=True)
