"""`coilclaw auth`: credentials for model services. Secrets are asked for or piped, and never shown."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import click

from coilclaw.cli.opening import expanded, settings_for
from coilclaw.cli.secret_input import no_secrets_here, read_secret
from coilclaw.cli.terminal import say, say_json, say_wrapped, warn
from coilclaw.config import is_variable_name
from coilclaw.providers import (
    ProfileCredentials,
    ProfileStore,
    ProviderError,
    Token,
    checked_setup_token,
    names_for,
    pasted_profile,
)
from coilclaw.sdk import OperatorError
from coilclaw.sdk.credential_shapes import has_credential
from coilclaw.sdk.legible import as_name, one_line

if TYPE_CHECKING:
    from coilclaw.config import Config
    from coilclaw.providers import ProfileType

__all__ = ["auth", "profile_users"]

_PROVIDER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LIST: Final = "`coilclaw auth list` shows what there is"


@click.group()
def auth() -> None:
    """Keep credentials for model services: add, list, order, test and remove them.

    \b
    Example:
      coilclaw auth anthropic setup-token
      coilclaw auth add anthropic --env ANTHROPIC_API_KEY
      coilclaw auth list
    """


@auth.group("anthropic")
def anthropic() -> None:
    """Use a Claude subscription.

    \b
    Example:
      coilclaw auth anthropic setup-token
    """


@anthropic.command("setup-token", epilog="Example: coilclaw auth anthropic setup-token --stdin < token.txt")
@click.argument("rest", nargs=-1, type=click.UNPROCESSED, metavar="")
@click.option("--stdin", "piped", is_flag=True, help="Read the token from standard input.")
def setup_token(rest: tuple[str, ...], piped: bool) -> None:
    """Store the token that `claude setup-token` prints, as the preferred credential for Anthropic."""
    no_secrets_here(rest)
    if not piped and sys.stdin.isatty():
        say("Run `claude setup-token` in another terminal, on any machine where you are signed in to Claude.", err=True)
        say("Then paste the token that it prints. It is not shown here.", err=True)
    token = checked_setup_token(read_secret("Token", piped=piped))
    store, users = _store(), profile_users(settings_for().config, "anthropic")
    made = Token(provider="anthropic", token=token)
    store.add("anthropic:manual", made, preferred=True, users=users, mode="token")
    say(f"Kept the token as anthropic:manual in {as_name(str(store.path))}", err=True)
    say("It is now the first credential for anthropic; `coilclaw auth test anthropic` tries it.", err=True)


@auth.command("list", epilog="Example: coilclaw auth list --json")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def list_profiles(as_json: bool) -> None:
    """List the profiles in the order in which they are used, and whether each can be used now."""
    credentials = ProfileCredentials(settings_for().home, os.environ)
    states = credentials.states()
    if as_json:
        fields = ("id", "provider", "type", "secret_ref", "expires_at", "last_used_at", "cooldown_until")
        say_json([{**{key: getattr(view, key) for key in fields}, "problem": problem} for view, problem in states])
        return
    if not states:
        say(
            "No credentials are kept. `coilclaw auth anthropic setup-token` or `coilclaw auth add` keeps one.", err=True
        )
        return
    width = max(len(as_name(view.id)) for view, _ in states)
    for view, problem in states:
        where = f" ({view.secret_ref})" if view.secret_ref.startswith(("env:", "file:")) else ""
        until = f", until {view.expires_at}" if view.expires_at and not problem else ""
        say_wrapped(f"{as_name(view.id):<{width}}  {view.type:<7}  ", one_line(f"{problem or 'ready'}{until}{where}"))


@auth.command("add", epilog="Example: coilclaw auth add anthropic --name work < key.txt")
@click.argument("provider")
@click.argument("rest", nargs=-1, type=click.UNPROCESSED, metavar="")
@click.option("--name", default="default", show_default=True, help="What the profile is called: PROVIDER:NAME.")
@click.option(
    "--type", "kind", type=click.Choice(["api_key", "token", "oauth"]), default="api_key", show_default=True,
    help="What it is. An oauth profile is JSON: access, refresh, expires.",
)  # fmt: skip
@click.option("--env", "variable", metavar="NAME", help="Use the value that this environment variable has each time.")
@click.option("--file", "path", metavar="PATH", help="Use what this file has each time; only you may read it.")
@click.option("--stdin", "piped", is_flag=True, help="Read the secret from standard input.")
@click.option("--first", is_flag=True, help="Prefer it to the provider's other profiles.")
def add(
    provider: str,
    rest: tuple[str, ...],
    name: str,
    kind: ProfileType,
    variable: str | None,
    path: str | None,
    piped: bool,
    first: bool,
) -> None:
    """Store a credential for PROVIDER. It is asked for without showing it, or read from standard input."""
    no_secrets_here(rest)
    if not _PROVIDER.fullmatch(provider) or has_credential(provider, parts=True):
        raise OperatorError("this cannot be the name of a provider", hint="`coilclaw provider list` shows them")
    if (variable is not None) + (path is not None) + piped > 1:
        raise click.UsageError("--env, --file and --stdin exclude each other")
    if kind == "oauth" and (variable or path):
        raise click.UsageError("an oauth profile is read as JSON from standard input")
    settings = settings_for()
    profile_id = f"{provider}:{name}"
    store = ProfileStore(settings.home)
    profile = pasted_profile(provider, kind, _reference(variable, path) or read_secret("Secret", piped=piped))
    store.add(profile_id, profile, preferred=first, users=profile_users(settings.config, provider))
    say(f"Kept {as_name(profile_id)} in {as_name(str(store.path))}", err=True)
    if provider != "anthropic" and provider not in settings.config.providers.models:
        warn(f"no provider called {provider} is configured; [providers.models.{provider}] in config.toml makes one")


def _reference(variable: str | None, path: str | None) -> str | None:
    if variable is not None:
        if not is_variable_name(variable):  # It may be the secret itself.
            raise OperatorError("--env takes the name of an environment variable", hint="such as ANTHROPIC_API_KEY")
        return f"env:{variable}"
    if path is None:
        return None
    place = expanded(path)
    if not place.is_file():
        raise OperatorError("--file takes the path of a file, and there is none at this one")
    return f"file:{place.absolute()}"


@auth.command("remove", epilog="Example: coilclaw auth remove anthropic:work")
@click.argument("profile_id", metavar="ID")
def remove(profile_id: str) -> None:
    """Remove the profile ID and its secret."""
    store = _store()
    if not store.remove(profile_id):
        raise OperatorError("there is no profile of that name", hint=_LIST)
    say(f"Removed {as_name(profile_id)} from {as_name(str(store.path))}", err=True)


@auth.command("order", epilog="Example: coilclaw auth order anthropic anthropic:work anthropic:manual")
@click.argument("provider")
@click.argument("profile_ids", metavar="[ID]...", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def order(provider: str, profile_ids: tuple[str, ...], as_json: bool) -> None:
    """Prefer these profiles of PROVIDER, in this order; its others come behind them. Without IDs, show the order."""
    store, names = _store(), _names(settings_for().config, provider)
    if profile_ids:
        store.set_order(provider, profile_ids, names=names)
    ids = store.read().of(*names)
    if as_json:
        say_json(ids)
        return
    if not ids:
        say("There are no profiles for this provider.", err=True)
    for each in ids:
        say(as_name(each))


@auth.command("test", epilog="Example: coilclaw auth test anthropic:work")
@click.argument("target", required=False, metavar="[PROVIDER|ID]")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def test_profiles(target: str | None, as_json: bool) -> None:
    """Send the smallest request with each profile, with those of PROVIDER, or with the profile ID.

    The exit code is 0 if all are accepted, 4 if one is not, and 1 if a service fails otherwise or a profile is for a
    provider that is not configured.
    """
    from coilclaw.cli.provider import ask_least, exit_code, failure_facts

    settings = settings_for()
    rows: list[dict[str, Any]] = []
    code = 0
    for provider, profile_id in _tested(ProfileStore(settings.home), settings.config, target):
        row: dict[str, Any] = {"provider": provider, "profile": profile_id, "ok": True}
        try:
            config, row["provider"] = _configured(settings.config, provider)
            ask_least(settings, config, row["provider"], profile=profile_id, even_resting=True)
        except ProviderError as error:
            row |= {"ok": False, **failure_facts(error)}
            code = max(code, exit_code(error))
        except OperatorError as error:  # Of this profile alone: the others are tried all the same.
            row |= {"ok": False, "kind": "not tried", "message": error.message, "hint": error.hint}
            code = max(code, 1)
        rows.append(row)
    if as_json:
        say_json(rows)
    for row in () if as_json else rows:
        said = "accepted" if row["ok"] else f"{row['kind']}: {row['message']} ({row['hint']})"
        say_wrapped(f"{as_name(row['profile'] or row['provider'])}  ", one_line(said))
    sys.exit(code)


def _tested(store: ProfileStore, config: Config, target: str | None) -> list[tuple[str, str | None]]:
    """The provider and the profile of every request to make."""
    stored = store.read()
    if target is None:
        found = [(stored.profiles[view.id].provider, view.id) for view in stored.views()]
    elif target in stored.profiles:
        found = [(stored.profiles[target].provider, target)]
    else:
        found = [(target, each) for each in stored.of(*_names(config, target))]
    if not found and target is not None and (target == "anthropic" or target in config.providers.models):
        return [(target, None)]
    if not found:
        raise OperatorError(
            "there is no profile or provider of that name" if target else "no profiles are kept", hint=_LIST
        )
    return [*found]


def profile_users(config: Config, provider: str) -> list[str]:
    """The configured providers that take profiles for this name."""
    models = config.providers.models
    return [name for name, table in models.items() if provider in names_for(name, table.kind)]


def _names(config: Config, provider: str) -> tuple[str, ...]:
    """What the profiles of a provider may call it."""
    table = config.providers.models.get(provider)
    return names_for(provider, "" if table is None else table.kind)


def _configured(config: Config, provider: str) -> tuple[Config, str]:
    """The configured provider that uses the profiles of a name; for Anthropic's, one need not be configured."""
    from coilclaw.config import ProviderModel

    models = config.providers.models
    if provider in models:
        return config, provider
    named = [name for name, table in models.items() if table.kind == "anthropic"] if provider == "anthropic" else []
    if named:
        return config, named[0]
    if provider != "anthropic":
        raise OperatorError(
            f"no provider called {as_name(provider)} is configured",
            hint=f"add [providers.models.{as_name(provider)}] to config.toml",
        )
    extended = {**models, provider: ProviderModel(kind="anthropic")}
    return replace(config, providers=replace(config.providers, models=extended)), provider


def _store() -> ProfileStore:
    return ProfileStore(settings_for().home)
