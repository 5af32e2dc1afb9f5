"""Mutations of the bridge around admission."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutation import Mutation
from tests.mutants.mutations.selections import AUTHORS, BRIDGE, FENCE, KEPT, REPLAY

__all__ = ["MUTATIONS"]

_LOOPS: Final = "tests/bridge/test_loops.py"

_RETRY: Final = "tests/runs/test_retry.py"
_DISPLAYED: Final = "tests/runs/test_displayed.py"
_ENDING: Final = "tests/runs/test_ending.py"

MUTATIONS: Final = (
    Mutation(
        "coilclaw.bridge.answer_queue:AnswerQueue.put",
        "if self._undelivered + len(answer) > _MOST_UNDELIVERED_BYTES:",
        "if False:",
        "tests/bridge/test_answer_queue.py",
        "answers that nobody reads are bounded",
    ),
    Mutation(
        "coilclaw.bridge.call_context:CallContexts.of",
        "agent=caller.agent",
        "agent=None",
        "tests/bridge/test_call_context.py",
        "a tool sees the agent of its caller",
    ),
    Mutation(
        "coilclaw.bridge.invocation:serialised",
        "strict=True",
        "strict=False",
        BRIDGE,
        "a result is what its contract says",
    ),
    Mutation(
        "coilclaw.bridge.evidence_budget:EvidenceBudget.__init__",
        "most - most // _SET_ASIDE",
        "most",
        KEPT,
        "room for receipts is set aside",
    ),
    Mutation(
        "coilclaw.bridge.evidence_budget:EvidenceBudget.__init__",
        "in already:",
        "in ():",
        KEPT,
        "a run that is resumed goes on with the budget it had",
    ),
    Mutation(
        "coilclaw.bridge.evidence_budget:EvidenceBudget.has_room",
        "self._used + arguments + result_size <= self._most",
        "self._used + arguments <= self._most",
        "tests/bridge/test_evidence_budget.py tests/bridge/test_order_of_admission.py",
        "there must be room for the result too",
    ),
    Mutation(
        "coilclaw.bridge.evidence_budget:EvidenceBudget.hold",
        "self._used + self._held + size > self._most",
        "self._used + size > self._most",
        KEPT,
        "calls side by side do not share their room",
    ),
    Mutation(
        "coilclaw.bridge.evidence_budget:EvidenceBudget.release",
        "self._held -= size",
        "pass",
        KEPT + " -k nobody_elses",
        "room that is not used is given back",
    ),
    Mutation(
        "coilclaw.bridge.evidence_budget:EvidenceBudget._count",
        "if content_hash in self._counted:",
        "if False:",
        KEPT,
        "the same contents take room once",
    ),
    Mutation(
        "coilclaw.bridge.evidence_budget:prefix_facts",
        '"arguments_bytes": len(arguments), ',
        "",
        KEPT,
        "a refused call tells how large its arguments were",
    ),
    Mutation(
        "coilclaw.bridge.evidence_budget:prefix_facts",
        "arguments[:_SMALL_BYTES]",
        "arguments",
        KEPT,
        "of large arguments that are refused only the beginning is kept",
    ),
    Mutation(
        "coilclaw.bridge.invocation:serialised",
        'if valid is not None and b"null" in value:',
        "if False:",
        AUTHORS + " -k no_snippet_can_read",
        "a number that is not finite is no value",
    ),
    Mutation(
        "coilclaw.bridge.invocation:_may_hold_long_number",
        "value[at - 64 : at].isdigit() or ",
        "",
        AUTHORS + " -k wherever_it_lies",
        "a number that no snippet can read is no value",
    ),
    Mutation(
        "coilclaw.bridge.execution:Execution._handle",
        "redacted = admitted.redaction.json(value)",
        "redacted = value",
        "tests/bridge/test_bridge.py tests/bridge/test_attacks.py -k secret",
        "no secret leaves with a result",
    ),
    Mutation(
        "coilclaw.bridge.execution:Execution._too_large",
        "if len(value) <= most:",
        "if True:",
        BRIDGE,
        "a result is bounded",
    ),
    Mutation(
        "coilclaw.bridge.execution:Execution._handle",
        "timeout = min(seconds, self._deadline.remaining)",
        "timeout = self._deadline.remaining",
        BRIDGE + " -k 'every_way_to_fail and hang'",
        "a tool has its own time",
    ),
    Mutation(
        "coilclaw.bridge.loops:Loops._made",
        ">= _MOST_LEFT_BEHIND",
        ">= 10_000",
        _LOOPS,
        "loops that are blocked for good are bounded",
    ),
    Mutation(
        "coilclaw.bridge.loops:Loops._leave_behind",
        "self._blockers.update(call.version for call in suspects)",
        "pass",
        _LOOPS,
        "a tool that has blocked gets a loop of its own",
    ),
    Mutation(
        "coilclaw.bridge.loops:Loops._leave_behind",
        "self._shared = None",
        "pass",
        _LOOPS + " -k hold_up_a_call",
        "a loop that does not answer is left behind",
    ),
    Mutation(
        "coilclaw.bridge.loops:_Loop._stop_if_retired",
        "self.loop.stop()",
        "pass",
        _LOOPS + " -k ends_once_it_is_free",
        "a loop that was left behind ends",
    ),
    Mutation(
        "coilclaw.bridge.redaction:Redaction._walk",
        "{self.text(key): self._walk(item)",
        "{key: self._walk(item)",
        "tests/bridge/test_redaction.py",
        "a secret is found in names too",
    ),
    Mutation(
        "coilclaw.bridge.redaction:Redaction.__init__",
        "key=lambda item: -len(item[1])",
        "key=lambda item: len(item[1])",
        "tests/bridge/test_redaction.py",
        "a secret inside another does not uncover the rest of it",
    ),
    Mutation(
        "coilclaw.bridge.redaction:Redaction.__init__",
        "{json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}",
        "{value}",
        "tests/bridge/test_redaction.py",
        "a secret is found as JSON writes it",
    ),
    Mutation(
        "coilclaw.bridge.estop_watch:EstopWatch._cancel",
        "self._deadline.cancel()",
        "pass",
        "tests/bridge/test_estop.py -k wait_for_their_turn",
        "a stop ends the calls under way",
    ),
    Mutation(
        "coilclaw.bridge.journal:DeliveryDigest.add",
        "self._digest.update(body.encode())",
        "pass",
        REPLAY,
        "receipts pin down what a run was told",
    ),
    Mutation(
        "coilclaw.bridge.run_store:_HELD_BY",
        "run_id = ? AND fence = ?",
        "run_id = ? AND fence >= ?",
        FENCE,
        "a process that lost its run writes nothing",
    ),
    Mutation(
        "coilclaw.bridge.run_store:claim_run",
        "claims=True",
        "claims=False",
        FENCE,
        "a process that lost its run starts nothing",
    ),
    Mutation(
        "coilclaw.bridge.replay_host:ReplayHost.judged",
        "if self._over or not isinstance(outcome, _BY_ITSELF):",
        "if True:",
        "tests/bridge/test_replay_host.py",
        "a run that ends before it has done all it did diverges",
    ),
    Mutation(
        "coilclaw.bridge.run_store:_HELD_BY",
        " AND status = 'running'",
        "",
        "tests/bridge/test_run_store.py -k has_left_its_run",
        "a process that has left its run does nothing more for it",
    ),
    Mutation(
        "coilclaw.bridge.reuse:ReusableWrites.use",
        "self._succeeded[source.tool, source.args_hash].remove(source)",
        "pass",
        _RETRY + ' -k "as_often_as or all_of_them"',
        "a write answers as many calls as it succeeded",
    ),
    Mutation(
        "coilclaw.bridge.reuse:ReusableWrites.__init__",
        "elif each.receipt not in used:",
        "else:",
        _RETRY + " -k suspended_and_resumed",
        "a resumed retry knows what it has reused",
    ),
    Mutation(
        "coilclaw.bridge.reuse:ReusableWrites.find",
        "found.tool_version != tool.version",
        "False",
        _RETRY + " -k another_version",
        "another version of a tool is not answered for",
    ),
    Mutation(
        "coilclaw.bridge.reuse:ReusableWrites.find",
        "found.runs_hash != runs_hash",
        "False",
        _RETRY + " -k something_else",
        "a call that runs something else is not answered for",
    ),
    Mutation(
        "coilclaw.bridge.call_receipts:CallReceipts.reuse",
        '"tool.call.reused"',
        '"tool.call.succeeded"',
        _RETRY + " -k names_the_call",
        "a reused answer has a receipt of its own kind",
    ),
    Mutation(
        "coilclaw.bridge.transcript:Transcript._display",
        "len(self._outputs) >= _MOST_OUTPUTS",
        "False",
        _DISPLAYED + " -k more_outputs",
        "outputs are bounded in number",
    ),
    Mutation(
        "coilclaw.bridge.transcript:Transcript.write",
        "self._written += len(text.encode())",
        "self._written += len(text.encode()) * (stream == 1)",
        _DISPLAYED + " -k 'bounded or one_limit'",
        "stderr and outputs count towards the output limit",
    ),
    Mutation(
        "coilclaw.bridge.bridge:Bridge.withdraw",
        "if number in self._pending:",
        "if False:",
        _ENDING,
        "a call that was given up is taken back with its question",
    ),
    Mutation(
        "coilclaw.bridge.calls_under_way:CallsUnderWay.handle",
        "return False",
        "return True",
        _ENDING,
        "a call that was given up before its turn came is not made",
    ),
    Mutation(
        "coilclaw.bridge.bridge:Bridge.begin_again",
        'if withdrawn and self.run.prior[number].state == "requested":',
        "if False:",
        _ENDING,
        "a call that was given up before its process died is not begun again",
    ),
    Mutation(
        "coilclaw.bridge.replay_host:ReplayHost._plan_of",
        'return "" if tool is None else tool.output_plan',
        'return ""',
        "tests/runs/test_typed_values.py",
        "a replay gives values of the same types",
    ),
)
