"""`coilclaw token`: create, list and revoke API tokens."""

from __future__ import annotations

import re
import time
from typing import Final

import click

from coilclaw.cli.opening import open_app, settings_for
from coilclaw.cli.terminal import say, say_json
from coilclaw.sdk.legible import as_name

__all__ = ["token"]

_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def _seconds(text: str) -> int | None:
    """A span of time in seconds; None for `never`."""
    if text == "never":
        return None
    found = re.fullmatch(r"([1-9][0-9]{0,8})([smhd])", text, re.ASCII)
    if found is None:
        raise click.BadParameter("write a span of time such as 12h or 30d, or never")
    return int(found[1]) * _SECONDS[found[2]]


@click.group()
def token() -> None:
    """Create, list and revoke API tokens for the server.

    A program sends one with each request: `Authorization: Bearer TOKEN`.

    \b
    Example:
      coilclaw token create --scope run --name ci --expires 30d
      coilclaw token list
      coilclaw token revoke 3f0c2a9d5b7e1f48
    """


@token.command("create", epilog="Example: coilclaw token create --scope operator --expires 12h --json")
@click.option(
    "--scope",
    type=click.Choice(["read", "run", "operator"]),
    required=True,
    help="read: look. run: also start runs, call tools and chat. operator: also decide approvals.",
)
@click.option(
    "--expires",
    callback=lambda _ctx, _param, text: _seconds(text),
    default="90d",
    show_default=True,
    help="How long it is valid: 12h, 30d, never.",
)
@click.option("--name", metavar="NAME", help="Recorded with what the token decides; by default its id.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def create(scope: str, expires: int | None, name: str | None, as_json: bool) -> None:
    """Create a token and print it, once: only a hash of it is kept. It is valid at once."""
    from coilclaw.access import Scope

    with open_app(settings_for()) as claw:
        made = claw.access.tokens.create(Scope(scope), name=name, seconds=expires)
    facts = made.token.facts(time.time())
    if as_json:
        say_json({"token": made.text, **facts})
        return
    say(made.text)
    until = facts["expires_at"] or "it is revoked"
    say(f"The token {as_name(made.token.name)} has the scope {scope}, and is valid until {until}.", err=True)
    say("It is not shown again.", err=True)


@token.command("list", epilog="Example: coilclaw token list --json")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def list_tokens(as_json: bool) -> None:
    """List tokens, the newest first: id, scope, status, when it expires, name."""
    with open_app(settings_for()) as claw:
        found = [each.facts(time.time()) for each in claw.access.tokens.list()]
    if as_json:
        say_json(found)
        return
    for each in found:
        until = each["expires_at"] or "never expires"
        say(f"{each['id']}  {each['scope']:<8}  {each['status']:<7}  {until:<20}  {as_name(each['name'])}")
    if not found:
        say("There are no tokens. `coilclaw token create` makes one.", err=True)


@token.command("revoke", epilog="Example: coilclaw token revoke 3f0c2a9d5b7e1f48")
@click.argument("token_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def revoke(token_id: str, as_json: bool) -> None:
    """Revoke the token ID. Running servers refuse it from now on."""
    with open_app(settings_for()) as claw:
        revoked = claw.access.tokens.revoke(token_id)
    if as_json:
        say_json(revoked.facts(time.time()))
    else:
        say(f"Revoked {as_name(revoked.token_id)} ({as_name(revoked.name)}).", err=True)
