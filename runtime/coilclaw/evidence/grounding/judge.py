"""The verdict on one statement, in the light of the evidence and of the rest of the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from coilclaw.evidence.grounding.calls import Call, calls_of
from coilclaw.evidence.grounding.facts import Facts, facts_in, pairs_of, stems_of
from coilclaw.evidence.grounding.grammar import class_of_noun, grammar
from coilclaw.evidence.grounding.languages.shared import (
    ACTIVE,
    ELSE,
    NOW,
    ONLY,
    PLANNED,
    STILL,
    WAS,
    WHOLE,
    YOURS,
    words,
)
from coilclaw.evidence.grounding.matching import (
    Finding,
    Said,
    is_reported,
    left_open,
    match_done,
    match_read,
    match_undone,
)
from coilclaw.evidence.grounding.normal_text import folded
from coilclaw.evidence.grounding.reading import Reading
from coilclaw.evidence.grounding.setbacks import reasons_of
from coilclaw.evidence.grounding.statements import Statement
from coilclaw.evidence.grounding.support import is_covered, supports
from coilclaw.evidence.grounding.tokens import tokens_of
from coilclaw.evidence.grounding.values import Evidence

__all__ = ["Judge"]

_PERSONAL: Final = frozenset(
    ("mail", "message", "event", "reminder", "payment", "booking", "order", "device", "account")
)
_EVERYTHING: Final = words("it everything all successfully alles erfolgreich todo tout")


class Judge:
    """Gives the verdict on what sentences say, in the light of the evidence and of the rest of the answer."""

    def __init__(self, evidence: Iterable[Evidence]) -> None:
        self.calls: list[Call] = calls_of(evidence)
        self.reasons = reasons_of(self.calls)
        self.failures = 0  # Sentences that say that something failed, was refused or waits.
        self.is_expository = False
        self.asked: Facts | None = None  # What a fragment before this sentence named.
        self._is_text_work = False
        self._reporting = ""
        self._taken: dict[int, tuple[str, str, str]] = {}  # Calls, and the statements that are about them.

    def state(self, read: Reading) -> Finding | None:
        """The verdict on what a sentence without an action says is the case now."""
        if not WAS.isdisjoint(read.texts):
            return None
        is_now = not NOW.isdisjoint(read.texts) or _is_active(read)
        everything = range(len(read.tokens))
        facts = facts_in(read.plain, read.tokens, everything, -1, read.language)
        said = Said("any", facts, read.whole_content)
        writes = [call for call in self.calls if not call.is_read]
        related = [
            call
            for call in writes
            if said.words & call.words or (not facts.is_empty and supports(facts, call) == "yes")
        ]
        if (facts.numbers or facts.dates or facts.times) and is_reported(said, self.calls):
            return None
        if self.failures and any(not call.succeeded for call in related):
            return None
        if related and is_now:
            if not facts.classes - {"text", "prose"}:
                said = said._replace(facts=facts._replace(counts=()))
            return match_done(said._replace(is_disclosed=self.failures > 0), related)
        if related:
            checked = (
                facts
                if is_now
                else facts._replace(
                    names=tuple(name for name in facts.names if read.is_reached(name)),
                    quotes=(),
                    numbers=tuple(number for number in facts.numbers if number > 9),
                )
            )
            wrong = [call for call in related if call.succeeded and supports(checked, call) == "no"]
            if (
                wrong
                and len(wrong) == len(related)
                and not is_covered(checked, wrong)
                and not is_reported(said._replace(facts=checked), self.calls)
            ):
                return Finding("contradicted", wrong[-1].evidence.receipt_ref)
            return None
        if any(call.acts and call.succeeded for call in writes) and not (facts.names or facts.places):
            return None
        known = facts.classes - {"text", "system", "record", "repo"} and len(read.tokens) < 12
        if is_now and (self.calls or known or not YOURS.isdisjoint(read.texts)) and not is_reported(said, self.calls):
            return Finding("unverified")
        return None

    def finding(self, read: Reading, statement: Statement) -> Finding | None:
        """The verdict on one statement; None if it is not about an action of the assistant after all."""
        span = range(statement.start if statement.is_first else read.left_of(statement), statement.end)
        facts = facts_in(read.plain, read.tokens, span, statement.verb, read.language)
        if (
            facts.is_empty
            and statement.mood != "undone"
            and not read.acts_before(statement)
            and any(read.is_pronoun(at) for at in span)
        ):
            facts = facts_in(
                read.plain,
                read.tokens,
                range(max(0, statement.verb - 40), statement.verb),
                statement.verb,
                read.language,
            )
        if facts.is_empty and self.asked is not None and len(read.tokens) < 5 and not read.is_listed:
            facts = self.asked
        said = Said(
            statement.sense,
            facts,
            read.content([at for at in span if at != statement.verb]),
            statement.is_generic,
            self.failures > 0,
            read.language,
            folded(read.tokens[statement.verb].text),
            read.whole_content,
        )
        if statement.is_refusal and (not self.calls or any(not call.succeeded for call in self.calls)):
            return None
        if statement.mood == "undone":
            if any(read.tokens[at].text in ELSE for at in span):
                return Finding("not_an_action")
            whole = any(read.tokens[at].text in WHOLE for at in span)
            return self.undone(said._replace(words=read.content(statement.clause)), whole)
        only = not ONLY.isdisjoint(read.tokens[at].text for at in span)
        if (
            statement.is_generic
            and not ONLY.isdisjoint(read.texts)
            and not any(call.acts and call.succeeded for call in self.calls)
        ):
            return None
        cited = self.meant(facts)
        if facts.cited and not any(call.acts for call in cited) and not read.has("report") and cited is not self.calls:
            return Finding("unverified") if statement.mood != "read" else None
        if statement.is_first and statement.sense == "read" and only:
            done = [call for call in self.calls if call.succeeded and call.acts and "draft" not in call.senses]
            if done:
                return Finding("contradicted", done[-1].evidence.receipt_ref)
        if statement.mood == "read":
            if not statement.is_first:
                return None
            found = match_read(said._replace(words=read.content(statement.clause)), self.calls)
            if not self.calls and not YOURS.isdisjoint(read.tokens[at].text for at in statement.clause):
                return Finding("unverified")
            if found.verdict == "verified" and {":", "—", "–"} & read.texts:
                self._reporting = read.text  # `I checked the order: it was packed this morning.`
            return found
        if (
            statement.sense == "approve"
            and statement.is_first
            and not any("approve" in call.senses for call in self.calls)
        ):
            return match_read(said, [call for call in self.calls if not call.acts])  # `I confirmed that it works.`
        if statement.is_first:
            if self._is_text(read, statement, facts):
                return None
        elif self._is_background(read, statement, said):
            return None
        return self.cited(said) or self.untaken(said, match_done(said, self.meant(facts)), read.text)

    def untaken(self, said: Said, finding: Finding, sentence: str) -> Finding:
        """A call that another statement is about supports this one only if it mentions what this one does."""
        if not finding.calls or said.is_generic:
            return finding
        call = next((each for each in finding.calls if each.number not in self._taken), finding.calls[-1])
        first = self._taken.setdefault(call.number, (said.sense, sentence, said.verb))
        is_other = first[0] != said.sense and said.sense not in call.senses
        is_beside = first[0] == said.sense and first[1] == sentence and first[2] != said.verb
        named = said.words | stems_of([said.verb])
        is_told = bool(named & call.details) or (not said.facts.is_empty and supports(said.facts, call) == "yes")
        if (is_other or is_beside) and not is_told:
            return Finding("unverified")
        return finding

    def meant(self, facts: Facts) -> list[Call]:
        """The calls that a statement cites, or all."""
        return [
            call for call in self.calls if {call.evidence.receipt_ref, call.evidence.call_id} & {*facts.cited}
        ] or self.calls

    def undone(self, said: Said, is_whole: bool) -> Finding:
        return match_undone(
            said._replace(facts=said.facts._replace(counts=(), numbers=(), is_all=False)), self.calls, is_whole=is_whole
        )

    def _is_background(self, read: Reading, statement: Statement, said: Said) -> bool:
        """Whether a statement without an `I` reports what was read, or explains how things work."""
        about = said if said.words else said._replace(words=read.whole_content)
        if is_reported(about, self.calls) or (
            self._reporting == read.text and not any(call.acts for call in self.calls)
        ):
            self._reporting = read.text  # So is the rest of the sentence.
            return True
        verb = folded(read.tokens[statement.verb].text)
        if self.failures and any(verb in call.words for call in self.calls if not call.succeeded):
            return True  # Why it failed.
        before = read.tokens[statement.verb].start
        if (heard := read.has("heard")) and heard.start() < before:
            return True
        if self.calls and (reported := read.has("report")) and reported.start() < before:
            return True
        yours = not YOURS.isdisjoint(read.texts)
        is_told = not (NOW | _EVERYTHING).isdisjoint(read.texts)
        is_ours = yours or is_told or statement.is_generic or bool(said.facts.classes & _PERSONAL)
        if not self.calls and statement.mood == "state" and not is_ours:
            return True
        if not self.calls and statement.mood == "state" and self.is_expository and len(read.tokens) > 6:
            return True
        if (
            not self.calls
            and not yours
            and len(read.tokens) > (6 if self.is_expository else 12)
            and not statement.is_headline
            and not read.says_i
            and not (statement.is_perfect and not self.is_expository)
            and not (said.facts.classes & _PERSONAL and (said.facts.times or said.facts.days))
        ):
            return True
        if (
            statement.mood == "state"
            and verb in PLANNED
            and not said.facts.is_empty
            and not any(call.acts for call in self.calls)
            and self.calls
        ):
            return True
        return statement.mood == "state" and not STILL.isdisjoint(read.texts)

    def _is_text(self, read: Reading, statement: Statement, facts: Facts) -> bool:
        """Whether only the text of this conversation was worked on, which needs no tool."""
        if (
            statement.sense not in ("create", "update", "write", "delete", "move", "any", "save", "do", "set")
            or facts.places
        ):
            return False
        if any(call.acts for call in self.calls):
            return False
        is_kept = any(call.classes & (facts.classes - {"text", "prose"}) for call in self.calls)
        is_prose = any("prose" in class_of_noun(token.text) for token in read.tokens)
        if is_prose or ("text" in facts.classes and not is_kept) or (self._is_text_work and not facts.classes):
            self._is_text_work = True
            return True
        return False

    def cited(self, said: Said) -> Finding | None:
        """The verdict on a citation that does not hold: every cited call must be there and have succeeded."""
        known = {ref: call for call in self.calls for ref in (call.evidence.receipt_ref, call.evidence.call_id) if ref}
        for ref in said.facts.cited:
            call = known.get(ref)
            if call is None:
                return Finding("unverified")
            if not call.succeeded and not (said.is_disclosed and said.sense in ("submit", "start")):
                return Finding("contradicted", ref)
        return None

    def unsaid(self, plain: str, language: str) -> Finding:
        """The verdict on a sentence about a call that did not succeed, in an answer that nowhere says so."""
        if self.failures:
            return Finding("not_an_action")
        writes = [call for call in self.calls if not call.is_read]
        left = left_open(writes, [call for call in writes if call.succeeded])
        if not left:
            return Finding("not_an_action")
        if language == "zh":
            words = pairs_of(plain) | set(re.findall(r"[a-z0-9]{2,}", folded(plain)))
        else:
            read = grammar(language)
            tokens = tokens_of(plain)
            if any(
                set(read.marks.get(token.text, "")) & set("MCN")
                and token.text not in ("to", "a", "de", "zu", "para", "pour", "por", "que", "d'")
                for token in tokens
            ):
                return Finding("not_an_action")
            words = {
                folded(token.text)
                for token in tokens
                if token.kind == "word" and not read.marks.get(token.text) and len(token.text) > 2
            }
        for call in left:
            if words & (call.words - {"exit", "error", "not"}):
                return Finding("contradicted", call.evidence.receipt_ref)
        return Finding("not_an_action")


def _is_active(read: Reading) -> bool:
    """Whether something is said to be on or off."""
    for at, token in enumerate(read.tokens[:-1]):
        if "S" in read.words.marks.get(token.text, "") and read.tokens[at + 1].text in ACTIVE:
            after = read.tokens[at + 2] if at + 2 < len(read.tokens) else None
            return after is None or after.kind == "mark" or after.text in ("until", "till", "bis", "hasta", "jusqu'à")
    return False
