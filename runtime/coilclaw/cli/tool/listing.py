"""`coilclaw tool list` and `coilclaw tool stubs`: all tools, for a person and for a model."""

from __future__ import annotations

import sys

import click

from coilclaw.bridge import first_sentence
from coilclaw.cli.opening import open_app, settings_for, show_diagnostics
from coilclaw.cli.terminal import say, say_json, say_text, terminal_size
from coilclaw.sdk.legible import as_name, one_line

__all__ = ["list_tools", "stubs"]

_LONGEST_SENTENCE = 120
_SHORTEST_SENTENCE = 20
_OTHER_COLUMNS = 23


@click.command("list", epilog="Example: coilclaw tool list read file")
@click.argument("words", nargs=-1, metavar="[QUERY]...")
@click.option("--workspace", metavar="DIR", help="The workspace whose tools are used.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def list_tools(words: tuple[str, ...], workspace: str | None, as_json: bool) -> None:
    """List every tool, its risk and what policy says about it.

    With a QUERY, only the tools that fit its words, best first: words of names, arguments and descriptions.
    """
    query = " ".join(words)
    with open_app(settings_for(workspace), record=False) as claw:
        tools, policy = claw.tools, claw.tools.policy
        show_diagnostics(tools.registry)
        found = tools.search(query) if query else list(tools)
        if as_json:
            say_json([tools.facts(each) for each in found])
            return
    if not found:
        nothing = f"No tool fits {query[:200]!r}; `coilclaw tool list` shows all." if query else "There are no tools."
        say(nothing, err=True)
    width = max((len(as_name(each.id)) for each in found), default=4)
    longest = _LONGEST_SENTENCE
    if sys.stdout.isatty():  # One line for each; `tool show` has it in full.
        longest = max(_SHORTEST_SENTENCE, min(longest, terminal_size(sys.stdout)[0] - width - _OTHER_COLUMNS))
    for each in found:
        decision = policy.decide(each, each.risk).decision.value
        about = one_line(first_sentence(each.description, longest))
        say(f"{as_name(each.id):<{width}}  {each.risk.value:<11}  {decision:<5}  {about}".rstrip())


@click.command("stubs", epilog="Example: coilclaw tool stubs --budget 2000 > prompt.pyi")
@click.option("--workspace", metavar="DIR", help="The workspace whose tools are used.")
@click.option(
    "--budget", type=click.IntRange(min=0), metavar="N", help="Tokens they may cost; by default prompt.tool_tokens."
)
@click.option("--full", is_flag=True, help="Everything, whatever it costs.")
@click.option("--tokens", "only_tokens", is_flag=True, help="Print only what they cost.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object with text, tokens and level.")
def stubs(workspace: str | None, budget: int | None, full: bool, only_tokens: bool, as_json: bool) -> None:
    """Print typed Python stubs of all tools, for a model's prompt.

    If they cost more tokens than the budget, less is said about each. The cost is an estimate, rather too high.
    """
    if full and budget is not None:
        raise click.UsageError("--full and --budget exclude each other")
    settings = settings_for(workspace)
    most = None if full else settings.config.prompt.tool_tokens if budget is None else budget
    with open_app(settings, record=False) as claw:
        show_diagnostics(claw.tools.registry)
        made = claw.tools.stubs(most)
    if as_json:
        say_json({"text": made.text, "tokens": made.tokens, "level": made.level})
    elif only_tokens:
        say(str(made.tokens))
    else:
        say_text(made.text.removesuffix("\n"))
        say(f"About {made.tokens} tokens; level: {made.level}", err=True)
