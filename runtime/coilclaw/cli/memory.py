"""`coilclaw memory`: list, search, show and clear conversations."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import click

from coilclaw.cli.opening import open_app, settings_for
from coilclaw.cli.paging import Row, confirmed, folded, say_rows
from coilclaw.cli.terminal import counted, say, say_json, terminal_size
from coilclaw.sdk.legible import as_name, cells, legible_lines, one_line

if TYPE_CHECKING:
    from coilclaw.agent import ConversationActivity
    from coilclaw.memory import Conversation, Memory, Turn

__all__ = ["memory"]

_COLUMNS: Final = 80
_NARROWEST: Final = 20
_LONGEST_DOCUMENT: Final = 500
"""Characters of one call or result. `--json` has them in full."""
_COLOURS: Final = {"person": "green", "model": "cyan", "tool": "yellow"}


@click.group()
def memory() -> None:
    """List, search, show and clear conversations.

    They stay in the database of this home, unencrypted, until you clear them.

    \b
    Example:
      coilclaw memory list
      coilclaw memory search "quarterly report"
      coilclaw memory show conversation-1a1ee36b7673f21e96116
    """


@memory.command("list", epilog="Example: coilclaw memory list --limit 50 --json")
@click.option("--limit", type=click.IntRange(1, 1_000_000), default=20, show_default=True, help="How many to show.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def list_conversations(limit: int, as_json: bool) -> None:
    """List conversations, the latest first: id, last turn, number of turns, and how it began."""
    with open_app(settings_for()) as claw:
        page = claw.memory.list(limit=limit)
    if as_json:
        say_json([each.facts() for each in page])
        return
    for each in page:
        lead = f"{as_name(each.conversation_id)}  {_time(each.updated_at)}  {each.turns:>4}  "
        waiting = "(waiting) " if each.is_waiting else ""
        say(lead, _fitted(f"{waiting}{one_line(each.title)}", _COLUMNS - len(lead)))
    if page.cursor is not None:
        say(f"More: coilclaw memory list --limit {limit * 10}", err=True)
    elif not len(page):
        say("There are no conversations yet.", err=True)


@memory.command("search", epilog='Example: coilclaw memory search "quarterly report" --limit 5')
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="How many hits to show.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def search(query: tuple[str, ...], limit: int, as_json: bool) -> None:
    """Find turns by words, the best first: the conversation's id, and the part of the turn that fits.

    Turns with every word come before those with some. A word finds all that begin with it. Signs mean nothing.
    """
    words = " ".join(query)
    with open_app(settings_for()) as claw:
        hits = claw.memory.search(words, limit=limit)
    if as_json:
        say_json([hit.facts() for hit in hits])
        return
    for hit in hits:
        say(f"{as_name(hit.conversation_id)}  {_time(hit.timestamp)}  {hit.source}, turn {hit.number}")
        say_rows(folded([Row("  ", one_line(hit.excerpt))], _COLUMNS))
    if not hits:
        say(f"Nothing found for {as_name(words, 100)}.", err=True)


@memory.command("show", epilog="Example: coilclaw memory show conversation-1a1ee36b7673f21e96116")
@click.argument("conversation_id")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object, with calls and results in full.")
def show(conversation_id: str, as_json: bool) -> None:
    """Show a conversation, turn by turn, with who each turn comes from, and what was done, from receipts."""
    from coilclaw.agent import ConversationActivity, action_lines
    from coilclaw.evidence import relevant

    with open_app(settings_for()) as claw:
        found = claw.memory.show(conversation_id)
        turns = list(_turns(claw.memory, conversation_id))
        activity = ConversationActivity(claw, conversation_id)
        done = activity.items()
        shown = [_facts(turn, activity) for turn in turns] if as_json else []
    if as_json:
        say_json({**found.facts(), "turns": shown, "activity": [item._asdict() for item in done]})
        return
    _show_header(found)
    for turn in turns:
        say()
        who = ", ".join([turn.source, *(one_line(name) for name in (turn.provider, turn.model) if name)])
        say(f"{turn.number}. {who}  {_time(turn.timestamp)}", fg=_COLOURS[turn.source])
        rows = _rows(turn)
        columns = terminal_size(sys.stdout)[0]
        say_rows(folded(_wrapped(rows, columns), columns) if sys.stdout.isatty() else rows)
    if actions := action_lines(relevant(done)):
        say()
        say("What was done, from receipts:")
        say_rows([Row("  ", line) for line in actions.splitlines()])


@memory.command("clear", epilog="Example: coilclaw memory clear --yes")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def clear(yes: bool, as_json: bool) -> None:
    """Remove every conversation, for good. Receipts, runs and approvals stay.

    The places in the database are overwritten. Copies and backups of the file are not touched.
    """
    settings = settings_for()
    if not yes and not confirmed("Remove every conversation of this home?"):
        sys.exit(1)
    with open_app(settings) as claw:
        cleared = claw.memory.clear()
    if as_json:
        say_json({"conversations": cleared.conversations, "turns": cleared.turns})
        return
    removed = f"{counted(cleared.conversations, 'conversation')} with {counted(cleared.turns, 'turn')}"
    say(f"Removed {removed}. Receipts stay." if cleared.conversations else "There was nothing to remove.", err=True)


def _facts(turn: Turn, activity: ConversationActivity) -> dict[str, Any]:
    facts = turn.facts()
    if "claims" in turn.metadata:
        facts["metadata"] = {**turn.metadata, "claims": activity.confirmed(turn.metadata["claims"])}
    return facts


def _turns(kept: Memory, conversation_id: str) -> Iterator[Turn]:
    cursor: str | None = None
    while True:
        page = kept.turns(conversation_id, cursor=cursor)
        yield from page
        cursor = page.cursor
        if cursor is None:
            return


def _show_header(found: Conversation) -> None:
    say(f"{as_name(found.conversation_id)}  {_time(found.started_at)}", bold=True)
    for name in ("channel", "agent", "project"):
        if value := getattr(found, name):
            say(f"{name}: {as_name(value)}")
    if found.is_waiting:
        say(f"It waits for a decision: coilclaw agent --resume {as_name(found.conversation_id)}", err=True)
    if not found.turns:
        say("It has no turns yet.", err=True)


def _rows(turn: Turn) -> list[Row]:
    """The text of a turn, set in, so that no line of it passes for one of ours."""
    rows = [Row("    ", line) for line in (legible_lines(turn.content) if turn.content else ())]
    for each in turn.tool_calls:
        match each:
            case {"name": str(name), "arguments": {"code": str(code)}}:
                rows += [Row("  called: ", one_line(name, _LONGEST_DOCUMENT)), *_quoted(code)]
            case {"name": str(name), "arguments": dict(arguments)}:
                rows.append(Row("  called: ", one_line(f"{name} {_json(arguments)}", _LONGEST_DOCUMENT)))
            case _:
                rows.append(Row("  called: ", one_line(_json(each), _LONGEST_DOCUMENT)))
    for each in turn.tool_results:
        match each:
            case {"text": str(text), "run_id": str(run_id)}:
                rows += [Row("  result: ", as_name(run_id)), *_quoted(text)]
            case _:
                rows.append(Row("  result: ", one_line(_json(each), _LONGEST_DOCUMENT)))
    return rows


def _quoted(text: str) -> Iterator[Row]:
    shown = text[:_LONGEST_DOCUMENT]
    yield from (Row("    | ", line) for line in legible_lines(shown))
    if len(shown) < len(text):
        yield Row("    … ", f"{len(text) - len(shown)} more characters; --json has all")


def _wrapped(rows: Iterable[Row], columns: int) -> Iterator[Row]:
    """Break long lines between words, as far as they have any."""
    for row in rows:
        room = columns - cells(row.lead)
        if cells(row.text) <= room or row.lead.endswith("| "):
            yield row
            continue
        first, *others = textwrap.wrap(row.text, max(_NARROWEST, room), break_on_hyphens=False) or [""]
        yield row._replace(text=first)
        yield from (row._replace(lead=f"{' ' * (len(row.lead) - 2)}… ", text=each) for each in others)


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _time(timestamp: str) -> str:
    return one_line(timestamp[:16].replace("T", " "))


def _fitted(text: str, columns: int) -> str:
    """The text, or as much of it as has room, and a sign that there is more."""
    if cells(text) <= columns:
        return text
    while text and cells(text) > columns - 1:
        text = text[:-1]
    return f"{text}…"
