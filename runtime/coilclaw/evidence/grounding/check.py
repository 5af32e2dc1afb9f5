"""Checking an answer against the evidence, sentence by sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from coilclaw.evidence.grounding.calls import calls_of
from coilclaw.evidence.grounding.facts import Facts, facts_in, pairs_of
from coilclaw.evidence.grounding.grammar import grammar, sense_of
from coilclaw.evidence.grounding.judge import Judge
from coilclaw.evidence.grounding.languages.shared import CREATIVE, OUTCOME, SPEAKER, TICKED
from coilclaw.evidence.grounding.matching import Finding, Said, is_about, is_reported, match_done, match_read
from coilclaw.evidence.grounding.normal_text import folded, has_chinese, normal
from coilclaw.evidence.grounding.reading import Reading
from coilclaw.evidence.grounding.sentences import Sentence, sentences_of
from coilclaw.evidence.grounding.setbacks import reasons_of, tells_setback
from coilclaw.evidence.grounding.statements import language_of, languages_of, statements_in
from coilclaw.evidence.grounding.tokens import tokens_of
from coilclaw.evidence.grounding.values import Claim, Evidence, Grounding

__all__ = ["Checker", "check_answer"]

_MOST_ACTIONS: Final = 32
"""Actions that one sentence may tell of: each is looked at in the light of the whole sentence."""
_MOST_LOOKS: Final = 100_000
"""How often a call may be looked at for the sentences of one answer. What is left then cannot be verified."""
_SHOWN: Final = 300
_ALONE: Final = re.compile(r"[\"“„«「]([^\"”“»」\n]+)[\"”“»」]", re.DOTALL)
_LABELLED: Final = re.compile(r"[^\W\d_]\w{2,24} ?[–—] ")
"""A line that is an item of a list without a bullet: `Calendar – event added`."""
_REPORT_IN_CHINESE: Final = re.compile(
    r"根据|据[^，]{0,8}(?:显示|记录|说)|从[^，]{0,10}看|显示|记录(?:里|中)|原文|写道|提到|看到|查到"
)


def check_answer(answer: str, evidence: Iterable[Evidence]) -> Grounding:
    """Check every sentence of an answer against the evidence."""
    sentences = sentences_of(answer)
    checker = Checker(evidence)
    for sentence in sentences:
        checker.look_at(sentence)
    return Grounding(claims=checker.closed([claim for sentence in sentences for claim in checker.check(sentence)]))


class Checker(Judge):
    """Checks the sentences of one answer in their order, each in the light of those before it."""

    def __init__(self, evidence: Iterable[Evidence]) -> None:
        super().__init__(evidence)
        self._last_intro = False
        self._given = 0  # Sentences of a text that the answer contains, counted from the one that announces it.
        self._looks = 0
        self._has_told = False  # Whether a call that changed something was told of.

    def renew(self, evidence: Iterable[Evidence]) -> None:
        """Check what follows against other evidence."""
        self.calls = calls_of(evidence)
        self.reasons = reasons_of(self.calls)

    def mark(self) -> dict[str, Any]:
        """What the sentences so far have left behind, for `restore`."""
        return {
            name: value.copy() if isinstance(value, dict) else value
            for name, value in vars(self).items()
            if name != "calls"
        }

    def restore(self, marked: dict[str, Any]) -> None:
        """Forget the sentences since then."""
        vars(self).update(marked)

    def look_at(self, sentence: Sentence) -> None:
        """Note what a sentence tells about the whole answer, before any is checked."""
        if sentence.kind in ("code", "quote", "unread"):
            return
        plain = normal(sentence.text)
        tokens = tokens_of(plain)
        read = grammar(language_of(tokens))
        if tells_setback(plain, tokens, read, self.reasons):
            self.failures += 1
        marks = "".join(read.marks.get(token.text, "") for token in tokens if token.kind == "word")
        first = tokens[0].text if tokens else ""
        if first in ("to", "um", "para", "pour") or (
            read.code == "en" and (form := read.forms.get(first)) and form.kind == "base"
        ):
            self.is_expository = True
        if "C" in marks or "c" in marks or "L" in marks or re.search(r"如果|当.*时|一旦|若|后如|须", plain):
            self.is_expository = True

    def check(self, sentence: Sentence) -> list[Claim]:
        text = sentence.text.strip()
        if sentence.kind == "unread":
            return [Claim(text=text[:_SHOWN], verdict="unverified")]
        if self._given and sentence.opens and not text and self._given > 1:
            self._given = 0
        if not text:
            return []
        if self._looks > _MOST_LOOKS:
            return [Claim(text=text, verdict="unverified")]
        self._looks += len(self.calls)
        if self._given:
            self._given += 1
            return [Claim(text=text, verdict="not_an_action")]
        if (
            sentence.kind in ("code", "quote")
            or SPEAKER.match(text)
            or (self._last_intro and re.fullmatch(r"[*_“\"«„].*[*_”\"»“]", text, re.DOTALL))
        ):
            return [Claim(text=text, verdict="not_an_action")]
        if not self._last_intro and (quoted := _ALONE.fullmatch(text)):
            text = quoted.group(1)  # Nobody is said to have said it.
        plain = normal(text)
        if plain.endswith((":", "：")) and CREATIVE.search(plain):
            self._given = 1  # What follows, up to a blank line, is that text.
        self._last_intro = plain.endswith((":", "：")) or (self._last_intro and sentence.kind == "item")
        claims: list[Claim] = []
        language = "en"
        if has_chinese(plain):
            language = "zh"
            claims += self._chinese(text, plain)
        if not has_chinese(plain) or len(re.findall(r"[A-Za-z]{2,}", plain)) > 3:
            bare = _without_bullet(plain)
            tokens = tokens_of(bare)
            if tokens:
                listed = sentence.kind in ("item", "row", "heading") or _LABELLED.match(bare) is not None
                asked = bare.rstrip("\"'”)* ").endswith("?")
                for number, code in enumerate(languages_of(tokens)):
                    reading = Reading(text, bare, tokens, code, grammar(code), asked, listed)
                    found = self._latin(reading, is_main=number == 0)
                    language = "zh" if has_chinese(plain) else code if found or language == "en" else language
                    if found:
                        claims += found
                        break
        if all(claim.verdict == "not_an_action" for claim in claims):
            claims += self._signed(text, plain)
        if not claims:
            finding = Finding("not_an_action")
            if not plain.rstrip("\"'”)* ").endswith(("?", "？", ":", "：")):
                finding = self.unsaid(plain, language)
            claims.append(_claim(text, finding, language))
        return claims

    def closed(self, claims: list[Claim]) -> tuple[Claim, ...]:
        """The claims of a whole answer. One that nowhere says that a call did not succeed has a claim about it."""
        writes = [call for call in self.calls if not call.is_read]
        done = {tuple(call.name) for call in writes if call.succeeded}
        left = [call for call in writes if not call.succeeded and tuple(call.name) not in done]
        if self.failures or not left or not all(claim.is_supported for claim in claims):
            return tuple(claims)
        told = [
            at
            for at, claim in enumerate(claims)
            if not claim.text.rstrip("\"'”)* ").endswith(("?", "？", ":", "：")) and len(claim.text) > 3
        ]
        if not told:
            return tuple(claims)
        words = frozenset(word for call in left for word in call.words)
        best = max(told, key=lambda at: len(_words_of(claims[at].text) & words))
        claims[best] = Claim(
            text=claims[best].text,
            verdict="contradicted",
            receipt_ref=left[-1].evidence.receipt_ref,
            language=claims[best].language,
        )
        return tuple(claims)

    def _latin(self, read: Reading, *, is_main: bool) -> list[Claim]:
        claims: list[Claim] = []
        denial: Claim | None = None
        statements, others_act = statements_in(
            read.tokens, read.language, is_question=read.is_question, is_listed=read.is_listed
        )
        everything = range(len(read.tokens))
        if len(statements) > _MOST_ACTIONS:
            return [_claim(read.text, Finding("unverified"), read.language)]
        if not is_main or (read.has("imperative") and not read.says_i):
            statements = [statement for statement in statements if statement.is_first]
        self._looks += len(statements) * len(self.calls)
        for statement in statements:
            if statement.is_generic and read.has("ignore"):
                continue
            if (finding := self.finding(read, statement)) is not None:
                claims.append(_claim(read.text, finding, read.language))
                if statement.mood == "undone" and statement.sense in ("update", "any", "do"):
                    denial = claims[-1]  # `I have changed nothing else; I only fixed the typo.`
        if not is_main:
            return claims
        if any(claim.verdict == "verified" for claim in claims):
            self._has_told = True
            claims = [claim for claim in claims if claim is not denial]
        if all(claim.verdict == "not_an_action" for claim in claims) and not read.is_question and read.has("unchanged"):
            said = Said("update", facts_in(read.plain, read.tokens, everything, -1, read.language), read.whole_content)
            finding = Finding("not_an_action")
            if not self._has_told:
                finding = self.undone(said._replace(facts=Facts(classes=said.facts.classes)), is_whole=True)
            claims.append(_claim(read.text, finding, read.language))
        if not statements and not read.is_question and not read.has("ignore"):
            for sense in ("generic", "send"):
                if (
                    (found := read.has(sense))
                    and not read.is_unreal(part := read.part_around(found))
                    and not ((heard := read.has("heard")) and heard.start() <= found.start())
                ):
                    facts = facts_in(read.plain, read.tokens, part, -1, read.language)
                    said = Said(
                        "do" if sense == "generic" else sense,
                        facts,
                        read.content(part),
                        sense == "generic",
                        self.failures > 0,
                    )
                    if is_reported(said, self.calls):
                        break
                    finding = match_done(said, self.calls)
                    claims.append(_claim(read.text, finding, read.language))
                    break
        if not claims and not statements and not read.is_question and not others_act and len(read.tokens) > 3:
            told = read.plain_part()
            if told is not None and (finding := self.state(told)) is not None:
                claims.append(_claim(read.text, finding, read.language))
        self.asked = None
        if read.is_question or (not statements and len(read.tokens) < 8):
            self.asked = facts_in(read.plain, read.tokens, everything, -1, read.language)
        return claims

    def _signed(self, text: str, plain: str) -> list[Claim]:
        """The claim of a line that says by a sign, or by what became of a thing, that something is done."""
        stated = OUTCOME.search(plain)
        if plain.rstrip("\"'”)* ").endswith(("?", "？")) or not (stated or TICKED.search(plain)):
            return []
        tokens = tokens_of(_without_bullet(plain))
        read = Reading(text, plain, tokens, code := language_of(tokens), grammar(code), False, True)
        facts = facts_in(plain, tokens, range(len(tokens)), -1, code)
        is_thing = bool(facts.classes - {"text", "prose", "system", "record"} or facts.places)
        form = sense_of(tokens[0].text) if tokens else None
        is_task = form is not None and form.kind == "base"  # `✅ Update the wiki`.
        sense = form.sense if form is not None and is_task and not stated else "do"
        said = Said(sense, facts, read.whole_content, sense == "do", self.failures > 0, code)
        if (not stated and (not (is_thing or is_task) or len(tokens) > 12)) or any(
            call.is_read and call.succeeded and is_about(said, call) for call in self.calls
        ):
            return []
        return [_claim(text, match_done(said, self.calls), code)]

    def _chinese(self, text: str, plain: str) -> list[Claim]:
        from coilclaw.evidence.grounding.chinese import statements_in_chinese, verbs_in

        if verbs_in(plain) > 2 * _MOST_ACTIONS:  # Of which not all tell of an action.
            return [_claim(text, Finding("unverified"), "zh")]
        claims = []
        for statement in statements_in_chinese(plain):
            self._looks += len(self.calls)
            content = frozenset(re.findall(r"[a-z0-9]{2,}", folded(statement.text))) | pairs_of(statement.text)
            said = Said(
                statement.sense, statement.facts, frozenset(content), statement.is_generic, self.failures > 0, "zh"
            )
            if statement.mood == "undone":
                finding = self.undone(said, bool(re.search(r"任何|没有|什么都|未", statement.text)))
            elif "prose" in statement.facts.classes and not any(call.acts for call in self.calls):
                continue
            elif statement.mood == "read":
                finding = match_read(said, self.calls)
            elif (not statement.is_first and self.calls and _REPORT_IN_CHINESE.search(plain)) or (
                not statement.is_first and (is_reported(said, self.calls) or (self.is_expository and not self.calls))
            ):
                continue
            else:
                finding = self.cited(said) or self.untaken(said, match_done(said, self.meant(statement.facts)), text)
            claims.append(_claim(text, finding, "zh"))
        return claims


def _claim(text: str, finding: Finding, language: str) -> Claim:
    return Claim(text=text, verdict=finding.verdict, receipt_ref=finding.receipt_ref, language=language)


def _without_bullet(text: str) -> str:
    return re.sub(
        r"^[\s>]*(?:[-*+•·▪◦‣–—]\s+|\d{1,3}[.)]\s+|#{1,6}\s+|\|\s*|\[[ xX✓]?\]\s*|[✅☑✔✓🎉👍🟢]\s*)+", "", text
    )


def _words_of(text: str) -> frozenset[str]:
    plain = folded(normal(text))
    return frozenset(re.findall(r"[^\W_]{3,}", plain)) | pairs_of(plain)
