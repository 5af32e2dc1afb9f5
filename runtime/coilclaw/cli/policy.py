"""`coilclaw policy`: why a call is allowed, asked about or denied."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Any, Final

import click

from coilclaw.app import BadArgument
from coilclaw.cli.arguments import GivenArguments
from coilclaw.cli.opening import open_app, settings_for, show_diagnostics
from coilclaw.cli.terminal import say, say_json, say_wrapped
from coilclaw.cli.windows import window_facts
from coilclaw.policy import Explanation
from coilclaw.sdk import Decision
from coilclaw.sdk.legible import as_name, one_line

__all__ = ["policy"]

_HEADINGS: Final = ("source", "opinion", "applied", "why")


@click.group()
def policy() -> None:
    """Explain why a call is allowed, asked about or denied.

    \b
    Example:
      coilclaw policy explain files.write --json '{"path": "notes.txt", "text": "x"}'
    """


@policy.command("explain", epilog="Example: coilclaw policy explain files.write path=notes.txt text=hello")
@click.argument("name", metavar="TOOL")
@click.argument("pairs", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--json", "arguments", metavar="ARGS", help="The arguments as a JSON object, or @FILE, or - for stdin.")
@click.option("--workspace", metavar="DIR", help="The workspace whose tools are used.")
@click.option("--channel", default="cli", show_default=True, metavar="NAME", help="Where the call would come from.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def explain(
    name: str, pairs: tuple[str, ...], arguments: str | None, workspace: str | None, channel: str, form: str
) -> None:
    """Show everything that has a say about a call of TOOL, and what decides. Nothing is called.

    Arguments are given as KEY=VALUE, as for `coilclaw tool run`, or together as JSON. Without arguments the answer is
    about the tool; rules that depend on arguments are marked so.
    """
    arguments_given = GivenArguments(arguments, pairs)
    with open_app(settings_for(workspace), record=False) as claw:
        tools = claw.tools
        show_diagnostics(tools.registry)
        name = name.removeprefix("tools.")
        tool = tools.get(name)
        if tool is None:
            raise click.UsageError(f"there is no tool {name[:200]!r}; {tools.registry.suggestion(name)}")
        given = arguments_given.of(tool)
        try:
            with redirect_stdout(sys.stderr):  # What the tool prints is not the explanation.
                explanation = tools.explain(tool, given, channel=channel)
        except BadArgument as error:
            raise click.BadParameter(error.message, param_hint="the arguments") from None
        window = tools.window_for(tool, given) if explanation.verdict.decision is Decision.ASK else None
    if form == "json":
        say_json({**_facts(explanation), "window": window_facts(window) if window else None})
        return
    _show(explanation)
    if window is not None:
        for_now = f"{window.uses_left} more until {window_facts(window)['expires']}"
        say(f"Window {window.id} is open: such calls need no approval, {for_now}.")


def _facts(explanation: Explanation) -> dict[str, Any]:
    return {
        "tool": explanation.tool,
        "risk": explanation.risk.value,
        "channel": explanation.channel,
        "decision": explanation.verdict.decision.value,
        "reason": explanation.verdict.reason,
        "conditional": [rule.number for rule in explanation.verdict.conditional],
        "opinions": [
            {
                "source": opinion.source,
                "decision": opinion.decision.value if opinion.decision else None,
                "applied": opinion.applied,
                "decides": opinion.decides,
                "why": opinion.why,
            }
            for opinion in explanation.opinions
        ],
    }


def _show(explanation: Explanation) -> None:
    channel = one_line(explanation.channel)
    say(f"{as_name(explanation.tool)}, risk {explanation.risk.value!r}, channel {channel!r}")
    rows = [
        (one_line(each.source), each.decision.value if each.decision else "-", one_line(each.applied), each.why)
        for each in explanation.opinions
    ]
    widths = [max(len(row[column]) for row in (_HEADINGS, *rows)) for column in range(3)]
    deciding = (False, *(opinion.decides for opinion in explanation.opinions))
    for row, decides in zip((_HEADINGS, *rows), deciding, strict=True):
        cells = "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False))
        # One row is one line, whatever a rule's reason or an argument has in it.
        why = " ".join(row[3].split())
        say_wrapped(f"{'*' if decides else ' '} {cells}  ", one_line(why))
    verdict = explanation.verdict
    # The row has the reason; saying it twice would hide that there is only one.
    sources = ", ".join(each.source for each in explanation.opinions if each.decides)
    say_wrapped("Decision: ", one_line(f"{verdict}, because of {sources or ' '.join(verdict.reason.split())}"))
