"""Mutations of the agent: its loop, its bounds and its answers."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutation import Mutation

__all__ = ["MUTATIONS"]

MUTATIONS: Final = (
    Mutation(
        "coilclaw.agent.grounded_text:GroundedText.end",
        "if unsupported and not self._labels:",
        "if False:",
        "tests/agent/test_grounding.py -k put_right",
        "a claim without a receipt is held back for one correction",
    ),
    Mutation(
        "coilclaw.agent.grounded_text:GroundedText._take",
        "self._show(each.shown[",
        "self._show(each.text[",
        "tests/agent/test_grounding.py -k labelled",
        "the label behind a claim that nothing supports",
    ),
    Mutation(
        "coilclaw.agent.turn:Turn._corrected",
        "return text.summary()",
        "return grounded",
        "tests/agent/test_grounding.py -k code_ends_the_answer",
        "code ends an answer that the model cannot put right",
    ),
    Mutation(
        "coilclaw.agent.turn:Turn._round",
        "if response.tool_calls and request.tools:",
        "if response.tool_calls:",
        "tests/agent/test_bounds.py -k not_offered",
        "after the last round nothing is carried out",
    ),
    Mutation(
        "coilclaw.agent.turn:Turn._request",
        "may_act = stopped is None and",
        "may_act =",
        "tests/agent/test_bounds.py -k says_so",
        "while tools are stopped the model is offered none",
    ),
    Mutation(
        "coilclaw.agent.guard:LoopGuard.is_repeated",
        "return self._made[identity] > _MOST_ALIKE",
        "return False",
        "tests/agent/test_bounds.py -k made_twice",
        "a request that was made twice is not carried out again",
    ),
    Mutation(
        "coilclaw.agent.guard:Spending.exceeded",
        "if tokens >= settings.turn_tokens:",
        "if False:",
        "tests/agent/test_bounds.py -k used_its_tokens",
        "the bound of a turn's tokens",
    ),
    Mutation(
        "coilclaw.agent.guard:Spending.exceeded",
        "self.price >= settings.turn_price",
        "False",
        "tests/agent/test_bounds.py -k cost_its_price",
        "the bound of a turn's price",
    ),
    Mutation(
        "coilclaw.agent.execution:Execution.run",
        "caller = replace(self._caller, request=key)",
        "caller = self._caller",
        "tests/agent/test_approvals.py -k continues",
        "a request finds its run again",
    ),
    Mutation(
        "coilclaw.agent.handles:Handle.read",
        "if record.header.conversation_id != conversation:",
        "if False:",
        "tests/agent/test_handles.py -k forged",
        "a handle gives nothing of another conversation",
    ),
    Mutation(
        "coilclaw.agent.transcript:Transcript.say",
        'if before is not None and before.get("state") == "waiting":',
        "if False:",
        "tests/agent/test_approvals.py -k refused_while",
        "no message comes between a question and its answer",
    ),
    Mutation(
        "coilclaw.agent.transcript:Transcript._idle_document",
        'is_running(str(before.get("process")))',
        "False",
        "tests/agent/test_interruptions.py -k leaves_the_message",
        "two tasks do not answer in one conversation at once",
    ),
    Mutation(
        "coilclaw.agent.threads:finished",
        "            cancel()",
        "            pass",
        "tests/agent/test_interruptions.py -k cancelled_run",
        "cancelling a turn cancels its run",
    ),
    Mutation(
        "coilclaw.agent.prompt:as_data",
        "_unmarked(text)",
        "text",
        "tests/agent/test_prompt.py -k close_its_marks",
        "text of tools stays between its marks",
    ),
    Mutation(
        "coilclaw.agent.agent:Agent._allowed",
        "(self._claw.memory.show(conversation).channel, caller.channel)",
        "(caller.channel,)",
        "tests/agent/test_tools_allow.py -k bound_by_both",
        "a channel bounds what its conversations may call",
    ),
    Mutation(
        "coilclaw.agent.agent:Agent._allowed",
        "(self._claw.memory.show(conversation).channel, caller.channel)",
        "(self._claw.memory.show(conversation).channel,)",
        "tests/agent/test_tools_allow.py -k bound_by_both",
        "a conversation is bound by the channel in which it goes on",
    ),
    Mutation(
        "coilclaw.agent.kept_requests:request_facts",
        "return facts if request.echo is not None else ",
        "return ",
        "tests/agent/test_agent.py -k wants_back",
        "what a service wants back is remembered",
    ),
    Mutation(
        "coilclaw.agent.transcript:Transcript.leave",
        'if waited is not None and waited.get("request") in still_open:',
        "if False:",
        "tests/agent/test_bounds.py -k waits_stays_so",
        "what waited for a decision waits on",
    ),
    Mutation(
        "coilclaw.agent.kept_requests:whole_requests",
        "if not is_kept_whole(facts, _LARGEST_REQUEST):",
        "if False:",
        "tests/agent/test_transcript.py -k 'would_cut or cannot_be_kept'",
        "a request that cannot be kept whole is refused",
    ),
    Mutation(
        "coilclaw.agent.kept_requests:whole_requests",
        "elif not is_kept_whole(facts, left):",
        "elif False:",
        "tests/agent/test_transcript.py -k large_together",
        "requests that cannot be kept together are refused",
    ),
    Mutation(
        "coilclaw.agent.kept_requests:kept_request",
        'if facts.get("altered")',
        "if False",
        "tests/agent/test_transcript.py -k kept_redacted",
        "a request that was kept redacted is not carried out from memory",
    ),
    Mutation(
        "coilclaw.agent.transcript:Transcript.request",
        "self._asked.get(step.key(index), step.requests[index])",
        "step.requests[index]",
        "tests/agent/test_transcript.py -k secret_in_a_request",
        "what is carried out is what was asked, not what memory kept",
    ),
    Mutation(
        "coilclaw.agent.requests:Requests._one",
        "if index >= _MOST_AT_ONCE:",
        "if False:",
        "tests/agent/test_bounds.py -k everything_at_once",
        "the bound of requests in one reply",
    ),
    Mutation(
        "coilclaw.agent.tool_texts:ToolTextFile.read",
        'found is None or found["key"] != key',
        "found is None",
        "tests/agent/test_tool_texts.py",
        "texts that were kept are those of the present tools and policy",
    ),
)
