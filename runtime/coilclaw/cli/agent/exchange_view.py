"""One exchange as a person sees it: the checked text, what the model does meanwhile, and what was done in the end.

The answer goes to stdout: its text as it is released, and below it the actions and the activity, both written by code
from receipts. What only says how things are going stands on stderr, and only on a terminal.
"""

from __future__ import annotations

import re
import sys
import textwrap
import threading
from typing import TYPE_CHECKING, Final

from coilclaw.agent import CallChanged, RoundStarted, SnippetStarted, TextReleased
from coilclaw.cli.pending_calls import tell_pending
from coilclaw.cli.streams import unguarded
from coilclaw.cli.terminal import counted, say, say_progress, show_error, styled, terminal_size
from coilclaw.evidence import approval_words
from coilclaw.sdk.legible import as_name, one_line, visible_block

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from coilclaw.agent import Answer, ExchangeEvent
    from coilclaw.policy import Answer as Decision
    from coilclaw.policy import Approver, Question

__all__ = ["AnnouncedApprover", "ExchangeView", "exit_code", "show_activity", "tell_waiting"]

_COLOURS: Final = {
    "succeeded": "green", "failed": "red", "denied": "yellow", "pending": "cyan", "running": "cyan",
    "unknown": "yellow",
}  # fmt: skip
_HEADING: Final = "⟦from receipts⟧"
_RESERVED: Final = re.compile(r"[⟦⟧]")
"""Nobody else's text has these, so that a model cannot write a section that looks like ours."""
_INDENT: Final = " " * 12
_WIDEST: Final = 80
_NARROWEST: Final = 20


def exit_code(answer: Answer) -> int:
    """The code that says how an exchange ended."""
    match answer.status:
        case "answered":
            return 0
        case "waiting":
            return 3
        case "cancelled":
            return 130
    return 4 if answer.error is not None and answer.error.code == "credentials" else 1


class ExchangeView:
    """Shows an exchange while it goes on, and its end. Listens on any thread."""

    def __init__(self, gone: Callable[[], None]) -> None:
        """`gone` is called when nobody reads the answer any more."""
        self._gone = gone
        self._stdout = unguarded(sys.stdout)
        self._live = sys.stderr.isatty()
        self._lock = threading.Lock()
        self._released = ""
        self._round = ""
        """What of it belongs to the reply that may become the answer."""
        self._has_line = False
        self.conversation: str | None = None
        """The conversation of the exchange, once it is known."""

    def note_conversation(self, event: ExchangeEvent) -> None:
        """Take from an event which conversation this is, and show nothing."""
        if isinstance(event, RoundStarted):
            self.conversation = event.conversation_id or None

    def listen(self, event: ExchangeEvent) -> None:
        """Show an event of the exchange."""
        self.note_conversation(event)
        match event:
            case TextReleased(text=text):
                self._release(text)
            case RoundStarted():
                self._round = ""
                self._note("thinking")
            case SnippetStarted():
                self._note("running a snippet")
            case CallChanged(item=item) if item.status == "running":
                self._note(as_name(item.tool_id))

    def _release(self, text: str) -> None:
        with self._lock:
            self._erase()
            try:
                self._stdout.write(_RESERVED.sub(lambda found: f"⟦U+{ord(found[0]):04X}⟧", visible_block(text)))
                self._stdout.flush()
            except OSError:
                self._gone()
            self._released += text
            self._round += text

    def _note(self, what: str) -> None:
        with self._lock:
            # Text that has no end of line yet shares its line with nothing.
            if self._live and self._released[-1:] in ("", "\n"):
                say_progress(f"  {what} …")
                self._has_line = True

    def clear(self) -> None:
        """Make room for something else on the terminal."""
        with self._lock:
            self._erase()

    def _erase(self) -> None:
        if self._has_line:
            say_progress("")
            self._has_line = False

    def end(self, answer: Answer) -> None:
        """Show what has not been shown of an answer."""
        self.clear()
        self._release_rest(answer.text)
        if answer.activity or answer.failed_snippets:
            if self._released:
                say()
            say(_HEADING, dim=True)
            show_activity(answer)
        if answer.error is not None:
            show_error(answer.error.message, answer.error.hint)

    def _release_rest(self, text: str) -> None:
        shown = self._round.rstrip()
        rest = text[len(shown) :] if text.startswith(shown) else text
        if rest.strip():
            self._release(rest)
        if self._released and not self._released.endswith("\n"):
            self._release("\n")


def show_activity(answer: Answer) -> None:
    """Print what was done for an answer: how each call stands, what it did or was to do, its tool and its receipt."""
    for item in answer.activity:
        _show(item.status, item.summary or item.tool_id, (item.tool_id, item.receipt_ref, approval_words(item)))
    for each in answer.failed_snippets:
        _show("failed", each.words, (each.receipt_ref, f"coilclaw run show {each.run_id}"))
    if answer.folded_reads:
        say(f"{_INDENT}{counted(answer.folded_reads, 'read')} besides", dim=True)


def _show(status: str, what: str, facts: Iterable[str]) -> None:
    columns = min(_WIDEST, terminal_size(sys.stdout)[0]) if sys.stdout.isatty() else _WIDEST
    room = max(_NARROWEST, columns - len(_INDENT))
    first, *others = textwrap.wrap(one_line(what), room, break_on_hyphens=False) or [""]
    say("  ", styled(f"{status:<9}", fg=_COLOURS[status]), f" {first}")
    for line in others:
        say(f"{_INDENT}{line}")
    for line in textwrap.wrap(one_line("  ".join(filter(None, facts))), room, break_on_hyphens=False):
        say(f"{_INDENT}{line}", dim=True)


def tell_waiting(answer: Answer, options: str) -> None:
    """Say on stderr what a conversation waits for, and which commands continue it."""
    tell_pending(answer.approvals, answer.conversation_id, options, resume="agent --resume")


class AnnouncedApprover:
    """Asks a person after making room for the question."""

    def __init__(self, approver: Approver, view: ExchangeView) -> None:
        self._approver = approver
        self._view = view

    def decide(self, question: Question) -> Decision:
        self._view.clear()
        return self._approver.decide(question)
