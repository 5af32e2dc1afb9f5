"""Mutations of the event feed."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutation import Mutation

__all__ = ["MUTATIONS"]


MUTATIONS: Final = (
    Mutation(
        "coilclaw.evidence.feed:EventFeed._publish",
        "if number >= self._first",
        "if number >= 0",
        "tests/evidence/test_feed.py -k behind_the_buffer",
        "a place that left the buffer is read from the log",
    ),
    Mutation(
        "coilclaw.evidence.feed:EventFeed._publish",
        "len(self._buffer) > 2 * _KEPT",
        "False",
        "tests/evidence/test_feed.py -k behind_the_buffer",
        "the bound of the feed's buffer",
    ),
    Mutation(
        "coilclaw.evidence.feed:EventFeed._begin_at",
        "        self._wake(None)",
        "        pass",
        "tests/evidence/test_feed.py -k begins_to_watch",
        "readers that came before the feed's thread are woken",
    ),
    Mutation(
        "coilclaw.evidence.feed:EventFeed.of_run",
        "self._log.start_of(run_id) or end",
        "end",
        "tests/evidence/test_feed.py -k its_own_and_end",
        "a run is followed from its beginning",
    ),
    Mutation(
        "coilclaw.evidence.reader:_Merged.add",
        "place.is_before(event.cursor)",
        "False",
        "tests/evidence/test_feed_output.py -k where_it_was_printed",
        "output comes before the events that follow it",
    ),
    Mutation(
        "coilclaw.evidence.reader:EventReader._look",
        "place.is_reached(position)",
        "place.seq is not None",
        "tests/evidence/test_feed_output.py -k on_disk_when_it_was_printed",
        "output waits for the events before it",
    ),
    Mutation(
        "coilclaw.evidence.feed:EventFeed._look",
        "            self._wake_readers_of_output()",
        "            pass",
        "tests/evidence/test_feed_output.py -k append_of_another_run",
        "readers of output are woken when others write",
    ),
    Mutation(
        "coilclaw.evidence.reader:EventReader.__anext__",
        "self._accept(await asyncio.to_thread(self._look))",
        "self._accept(self._look())",
        "tests/evidence/test_feed_async.py -k not_blocked",
        "an event loop that does not wait for the disk",
    ),
    Mutation(
        "coilclaw.evidence.reader:EventReader.__anext__",
        "await asyncio.sleep(0)",
        "pass",
        "tests/evidence/test_feed_async.py -k have_their_turn",
        "other tasks have their turn while events are read",
    ),
    Mutation(
        "coilclaw.evidence.receipt_events:event_of",
        "except (KeyError, TypeError, ValidationError):",
        "except KeyError:",
        "tests/evidence/test_events.py -k something_else",
        "strange receipts do not stop a reader",
    ),
    Mutation(
        "coilclaw.evidence.reader:EventReader.wake",
        "except Exception:",
        "except OSError:",
        "tests/evidence/test_feed.py -k cannot_be_woken",
        "a reader that cannot be woken holds up no other",
    ),
    Mutation(
        "coilclaw.evidence.reader:EventReader.__next__",
        "self._feed.before_waiting()",
        "pass",
        "tests/app/test_blocking.py -k claw.events",
        "a reader does not block the loop of async tools",
    ),
    Mutation(
        "coilclaw.evidence.activity:relevant",
        'item.status != "succeeded" or item.risk != "read"',
        'item.risk != "read"',
        "tests/evidence/test_activity.py -k folded",
        "failed reads are relevant",
    ),
    Mutation(
        "coilclaw.evidence.activity:_approval",
        'if receipt.type == "tool.call.pending" or decision == "unanswered":',
        "if False:",
        "tests/evidence/test_activity.py -k person_decided",
        "a call that nobody decided about needs approval",
    ),
    Mutation(
        "coilclaw.evidence.grounding.stream:AnswerStream._release",
        "if not all(claim.is_supported for claim in released.claims):",
        "if False:",
        "tests/evidence/grounding/test_stream.py -k held_back_until_the_call",
        "an unsupported sentence of a stream waits",
    ),
    Mutation(
        "coilclaw.evidence.grounding.judge:Judge.cited",
        "if call is None:",
        "if False:",
        "tests/evidence/grounding/test_hostile.py -k another_run",
        "a cited receipt must be in the evidence",
    ),
    Mutation(
        "coilclaw.evidence.grounding.calls:Call.succeeded",
        'self.evidence.status == "succeeded"',
        'self.evidence.status != "denied"',
        "tests/evidence/grounding/test_check.py -k nothing_but_success",
        "nothing but success supports a claim",
    ),
    Mutation(
        "coilclaw.evidence.grounding.check:Checker.closed",
        "if self.failures or not left",
        "if True or not left",
        "tests/evidence/grounding/test_check.py -k leaves_out",
        "a failure that an answer leaves out is a claim",
    ),
    Mutation(
        "coilclaw.evidence.grounding.matching:_count_fits",
        "if count > 1",
        "if count > 9",
        "tests/evidence/grounding/test_check.py -k says_otherwise",
        "counts are compared",
    ),
    Mutation(
        "coilclaw.evidence.grounding.support:answers_of",
        '*("yes" if _has_name(name, call) else miss for name in facts.names)',
        '*("yes" for name in facts.names)',
        "tests/evidence/grounding/test_check.py -k says_otherwise",
        "names are compared",
    ),
    Mutation(
        "coilclaw.evidence.grounding.normal_text:_decoded_text",
        "text.translate(_LOOK_ALIKES)",
        "text",
        "tests/evidence/grounding/test_normal_text.py -k disguised",
        "look-alike letters hide no claim",
    ),
    Mutation(
        "coilclaw.evidence.grounding.clauses:_LONGEST",
        "60",
        "60_000",
        "tests/evidence/grounding/test_clauses.py",
        "a clause is bounded",
    ),
    Mutation(
        "coilclaw.evidence.grounding.check:_MOST_ACTIONS",
        "32",
        "32_000",
        "tests/evidence/grounding/test_linear.py -k more_actions",
        "the actions of a sentence are bounded",
    ),
    Mutation(
        "coilclaw.evidence.grounding.check:Checker.check",
        "self._looks > _MOST_LOOKS",
        "False",
        "tests/evidence/grounding/test_linear.py -k only_so_often",
        "looks at calls are bounded",
    ),
    Mutation(
        "coilclaw.evidence.grounding.sentences:Segmenter.feed",
        "text[: self._room], text[self._room :]",
        'text, ""',
        "tests/evidence/grounding/test_linear.py -k beyond_the_bound",
        "what is read of an answer is bounded",
    ),
    Mutation(
        "coilclaw.evidence.grounding.sentences:_border",
        "len(held) <= LONGEST",
        "True",
        "tests/evidence/grounding/test_sentences.py -k longest",
        "a sentence is bounded",
    ),
    Mutation(
        "coilclaw.evidence.grounding.calls:Call.__init__",
        'or self.name or [""]',
        "or self.name",
        "tests/evidence/grounding/test_check.py -k without_letters",
        "a call may have any name",
    ),
    Mutation(
        "coilclaw.evidence.grounding.labels:action_section",
        "one_line(call.evidence.summary or call.evidence.tool_id, _LONGEST)",
        "call.evidence.summary",
        "tests/evidence/grounding/test_labels.py -k cannot_add_a_line",
        "a summary is one line of the action section",
    ),
)
