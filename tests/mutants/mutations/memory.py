"""Mutations of the memory."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutation import Mutation

__all__ = ["MUTATIONS"]

_MEMORY: Final = "tests/memory/test_memory.py"
_SEARCH: Final = "tests/memory/test_search.py"

MUTATIONS: Final = (
    Mutation(
        "coilclaw.memory.memory:Memory._change_pending",
        "if pending_text(connection.execute, conversation_id) != expected:",
        "if False:",
        f"{_MEMORY} -k settled_once",
        "of several processes that resumed a turn, one settles it",
    ),
    Mutation(
        "coilclaw.memory.memory:Memory.clear",
        "overwriting=True",
        "overwriting=False",
        f"{_MEMORY} -k every_trace",
        "what is cleared is overwritten",
    ),
    Mutation(
        "coilclaw.memory.memory:Memory.clear",
        "        self._database.shrink(always=True)\n",
        "",
        f"{_MEMORY} -k every_trace",
        "what is cleared is not left in the write-ahead log",
    ),
    Mutation(
        "coilclaw.memory.turns:clear_turns",
        "    WORDS.clear(connection)\n",
        "",
        f"{_MEMORY} -k every_trace",
        "the words of cleared turns are removed with them",
    ),
    Mutation(
        "coilclaw.memory.conversations:count_turns",
        "SET turns = turns + ?,",
        "SET turns = ?,",
        f"{_MEMORY} -k several_processes",
        "turns are numbered without gaps",
    ),
    Mutation(
        "coilclaw.memory.documents:kept_content",
        "valid_text(redact(text))",
        "valid_text(text)",
        f"{_MEMORY} -k secrets_are_replaced",
        "secrets in what somebody said",
    ),
    Mutation(
        "coilclaw.memory.documents:_entry",
        "each if name in _OWN else ",
        "",
        f"{_MEMORY} -k occurs_in_an_id",
        "redaction leaves our own ids as they are",
    ),
    Mutation(
        "coilclaw.memory.documents:_redacting",
        "valid_text(redact(text))",
        "valid_text(text)",
        f"{_MEMORY} -k secrets_are_replaced",
        "secrets in calls, results and suspended turns",
    ),
    Mutation(
        "coilclaw.memory.turns:_turn",
        'source if source in get_args(Source) else "tool"',
        "source",
        f"{_MEMORY} -k written_over",
        "a source that nobody knows is trusted like a tool",
    ),
    Mutation(
        "coilclaw.memory.search:_hit",
        "best = (len(places), source, _excerpt",
        "best = (len(places), turn.source, _excerpt",
        f"{_SEARCH} -k names_the_source",
        "what a tool returned stays a tool's in an excerpt of a model's turn",
    ),
    Mutation(
        "coilclaw.memory.search:_ranked",
        "found[place] * _recency(moment, now)",
        "found[place]",
        f"{_SEARCH} -k of_two_alike",
        "recent turns rank higher",
    ),
    Mutation(
        "coilclaw.memory.search:_few_of_each",
        "if seen[conversation_id] <= _OF_ONE_CONVERSATION:",
        "if True:",
        f"{_SEARCH} -k does_not_take_every_place",
        "one conversation does not take every place of a search",
    ),
    Mutation(
        "coilclaw.memory.context:recent_turns",
        "if left < 0 and kept:",
        "if False:",
        "tests/memory/test_context.py",
        "the budget of a context",
    ),
    Mutation(
        "coilclaw.memory.sop_runs:SopRuns._hold",
        "if not held:",
        "if False:",
        "tests/memory/test_sop_runs.py",
        "whoever lost a run changes nothing of it",
    ),
    Mutation(
        "coilclaw.memory.sop_runs:SopRuns.take_over",
        "WHERE run_id = ? AND fence = ? AND status = ? RETURNING fence",
        "WHERE run_id = ? AND fence >= ? AND status <> ? RETURNING fence",
        "tests/memory/test_sop_runs.py",
        "one process takes a run over",
    ),
    Mutation(
        "coilclaw.memory.sop_runs:SopRuns.take_over",
        'if record.state not in ("suspended", "orphaned"):',
        "if False:",
        "tests/memory/test_sop_runs.py",
        "a run that is over stays over",
    ),
)
