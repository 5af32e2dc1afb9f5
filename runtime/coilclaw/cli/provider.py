"""`coilclaw provider`: the configured model services, and a smallest request to one of them."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final

import click

from coilclaw.cli.opening import open_app, settings_for
from coilclaw.cli.terminal import say_json, say_wrapped, show_error
from coilclaw.providers import CredentialsNeeded, ProfileCredentials, ProviderError, model_of
from coilclaw.sdk import OperatorError
from coilclaw.sdk.legible import as_name, one_line

if TYPE_CHECKING:
    from coilclaw.config import Config, ProviderModel, Settings
    from coilclaw.providers import ChatResponse

__all__ = ["ask_least", "exit_code", "failure_facts", "provider"]

_SERVICES: Final = ("anthropic", "openai-compatible")
"""Kinds that ask a service, with a model and a credential; the others lead to these, or need neither."""


@click.group()
def provider() -> None:
    """List and test the model services.

    \b
    Example:
      coilclaw provider list
      coilclaw provider test local
    """


@provider.command("list", epilog="Example: coilclaw provider list --json")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def list_providers(as_json: bool) -> None:
    """List every configured provider, its kind, its model and the credential it would use now."""
    settings = settings_for()
    config = settings.config
    credentials = ProfileCredentials(settings.home, os.environ)
    rows: list[dict[str, Any]] = [
        {
            "name": name,
            "kind": table.kind,
            "model": _model(config, name, table),
            "default": name == config.default_provider,
            **_credential(credentials, name, table),
        }
        for name, table in config.providers.models.items()
    ]
    if as_json:
        say_json(rows)
        return
    widths = [max(len(as_name(row[key] or "-")) for row in rows) for key in ("name", "kind", "model")]
    for row in rows:
        cells = (as_name(row[key] or "-") for key in ("name", "kind", "model"))
        columns = "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))
        say_wrapped(f"{'*' if row['default'] else ' '} {columns}  ", one_line(_state(row)))


def _credential(credentials: ProfileCredentials, name: str, table: ProviderModel) -> dict[str, Any]:
    """What a provider would be used with, and never the secret."""
    facts: dict[str, Any] = {"credential": "not needed", "profile": None, "problem": None, "hint": None}
    if table.kind not in _SERVICES:
        return facts
    try:
        found = credentials.use(name, table.kind, table)
    except CredentialsNeeded as error:
        return {**facts, "credential": "missing", "problem": error.message, "hint": error.hint}
    return facts if found is None else {**facts, "credential": "ready", "profile": found.profile}


def _state(row: dict[str, Any]) -> str:
    match row["credential"]:
        case "missing":
            return f"no credential: {row['hint']}"
        case "ready":
            return f"uses {row['profile']}"
    return "needs no credential"


def _model(config: Config, name: str, table: ProviderModel) -> str | None:
    if table.kind not in _SERVICES:
        return table.model or ("mock" if table.kind == "mock" else None)
    try:
        return model_of(config, name, table)
    except OperatorError:
        return None


@provider.command("test", epilog="Example: coilclaw provider test local --json")
@click.argument("name", required=False)
@click.option("--profile", metavar="ID", help="Use this auth profile and no other.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def test_provider(name: str | None, profile: str | None, as_json: bool) -> None:
    """Send the smallest request to the provider NAME, by default to the default one.

    The exit code is 0 if it answers, 4 if a credential is needed, and 1 if it fails otherwise.
    """
    settings = settings_for()
    name = name or settings.config.default_provider
    try:
        answer = ask_least(settings, settings.config, name, profile=profile)
    except ProviderError as error:
        if as_json:
            say_json({"provider": name, "ok": False, **failure_facts(error)})
        else:
            show_error(f"{as_name(name)} failed ({error.kind}): {error.message}", error.hint)
        sys.exit(exit_code(error))
    text = answer.final_text
    if as_json:
        say_json({"provider": name, "ok": True, "model": answer.model, "text": text})
        return
    say_wrapped(f"{as_name(name)} answers", one_line(f" as {answer.model}: {text}" if text else f" as {answer.model}."))


def ask_least(
    settings: Settings, config: Config, name: str, *, profile: str | None = None, even_resting: bool = False
) -> ChatResponse:
    """Send the smallest request there is. Raises ProviderError, or OperatorError for a provider that is not there."""
    import asyncio

    from coilclaw.providers import ChatRequest, Message, open_provider

    request = ChatRequest(
        system_prompt="Answer with one word.",
        messages=(Message(role="user", text="Hello"),),
        max_tokens=1,
        metadata={} if profile is None else {"profile": profile},
    )

    async def ask() -> ChatResponse:
        opened = open_provider(config, name, credentials=credentials, environment=os.environ)
        try:
            return await opened.chat(request)
        finally:
            await opened.aclose()

    with open_app(settings) as claw:
        credentials = ProfileCredentials(
            settings.home, os.environ, record=claw.receipts.record, even_resting=even_resting
        )
        return asyncio.run(ask())


def failure_facts(error: ProviderError) -> dict[str, Any]:
    """What a program is told about a failure."""
    return {"kind": error.kind, "message": error.message, "hint": error.hint}


def exit_code(error: ProviderError) -> int:
    return 4 if isinstance(error, CredentialsNeeded) else 1
