"""Checking an answer against the evidence, sentence by sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from coilclaw.evidence.grounding.calls import Call, calls_of
from coilclaw.evidence.grounding.chinese import has_chinese, statements_in_chinese
from coilclaw.evidence.grounding.facts import Facts, facts_in, pairs_of
from coilclaw.evidence.grounding.grammar import Grammar, grammar
from coilclaw.evidence.grounding.matching import Finding, Said, is_reported, left_open, match_done, match_read, match_undone
from coilclaw.evidence.grounding.normal_text import folded, normal
from coilclaw.evidence.grounding.sentences import Sentence, sentences_of
from coilclaw.evidence.grounding.statements import Mood, Statement, language_of, statements_in
from coilclaw.evidence.grounding.tokens import Token, tokens_of
from coilclaw.evidence.grounding.values import Claim, Evidence, Grounding

__all__ = ["Checker", "check_answer"]

_WHOLE: Final = frozenset(
    "nothing anything no none any nobody anyone never nichts kein keine keinen keinerlei nie nada ningún ninguna ninguno nunca "
    "rien aucun aucune jamais".split()
)
_ONLY: Final = frozenset("only just merely simply lediglich nur bloß solo sólo solamente únicamente seulement simplement juste uniquement".split())
_WEAK: Final = frozenset("to a de d' zu für para por pour que be".split())
_YOURS: Final = frozenset("your ihr ihre ihren ihrem ihrer dein deine deinen deinem deiner tu tus su sus votre vos ton ta tes".split())


class _Read(NamedTuple):
    """A sentence, made ready for checking."""

    text: str
    plain: str
    tokens: list[Token]
    language: str
    words: Grammar
    is_question: bool
    is_listed: bool

    def marks(self, letters: str) -> bool:
        return any(set(self.words.marks.get(token.text, "")) & set(letters) for token in self.tokens if token.kind == "word")

    def is_unreal(self, found: re.Match[str]) -> bool:
        """Whether the clause around a phrase denies it, or does not tell it as a fact."""
        start = max(self.plain.rfind(mark, 0, found.start()) for mark in ",;:—")
        ends = [end for mark in ",;:—" if (end := self.plain.find(mark, found.end())) >= 0]
        part = [token for token in self.tokens if start < token.start < min(ends, default=len(self.plain))]
        return any(set(self.words.marks.get(token.text, "")) & set("CNM") and token.text not in _WEAK for token in part)

    def has(self, phrase: str) -> re.Match[str] | None:
        return self.words.phrases[phrase].search(self.plain.lower())


def check_answer(answer: str, evidence: Iterable[Evidence]) -> Grounding:
    """Check every sentence of an answer against the evidence."""
    sentences = sentences_of(answer)
    checker = Checker(evidence)
    for sentence in sentences:
        checker.look_at(sentence)
    return Grounding(claims=tuple(claim for sentence in sentences for claim in checker.check(sentence)))


class Checker:
    """Checks the sentences of one answer in their order, each in the light of those before it."""

    def __init__(self, evidence: Iterable[Evidence]) -> None:
        self.calls: list[Call] = calls_of(evidence)
        self._failures = 0  # Sentences that say that something failed, was refused or waits.
        self._is_expository = False
        self._asked: Facts | None = None  # What a fragment before this sentence named.
        self._is_text_work = False
        self._last_intro = False

    def look_at(self, sentence: Sentence) -> None:
        """Note what a sentence tells about the whole answer, before any is checked."""
        if sentence.kind in ("code", "quote"):
            return
        plain = normal(sentence.text)
        if re.search(r"失败|未能|无法|没有|没能|拒绝|等待|待[审批确]|尚未|还没|未(?:获|被|经)|出错|报错|❌|⏳", plain):
            self._failures += 1
            return
        tokens = tokens_of(plain)
        read = grammar(language_of(tokens))
        marks = "".join(read.marks.get(token.text, "") for token in tokens if token.kind == "word")
        if "F" in marks or ("N" in marks and any(token.text in read.forms for token in tokens)) or read.phrases["open"].search(plain.lower()):
            self._failures += 1
        if ("C" in marks or "c" in marks or "L" in marks or re.search(r"如果|当.*时|一旦|若", plain)) and not self.calls:
            self._is_expository = True

    def check(self, sentence: Sentence) -> list[Claim]:
        text = sentence.text.strip()
        if not text:
            return []
        if sentence.kind in ("code", "quote") or (self._last_intro and re.fullmatch(r"[*_“\"«„].*[*_”\"»“]", text, re.DOTALL)):
            return [Claim(text=text, verdict="not_an_action")]
        plain = normal(text)
        self._last_intro = plain.endswith((":", "：")) or (self._last_intro and sentence.kind == "item")  # noqa: RUF001
        claims: list[Claim] = []
        language = "en"
        if has_chinese(plain):
            language = "zh"
            claims += self._chinese(text, plain)
        if not has_chinese(plain) or len(re.findall(r"[A-Za-z]{2,}", plain)) > 3:
            bare = _without_bullet(plain)
            tokens = tokens_of(bare)
            if tokens:
                code = language_of(tokens)
                language = language if has_chinese(plain) else code
                asked = bare.rstrip("\"'”)* ").endswith("?")
                claims += self._latin(_Read(text, bare, tokens, code, grammar(code), asked, sentence.kind in ("item", "row", "heading")))
        if not claims:
            finding = Finding("not_an_action")
            if not plain.rstrip("\"'”)* ").endswith(("?", "？", ":", "：")):  # noqa: RUF001
                finding = self._unsaid(plain, language)
            claims.append(Claim(text=text, verdict=finding.verdict, receipt_ref=finding.receipt_ref, language=language))
        return claims

    def _latin(self, read: _Read) -> list[Claim]:
        claims = []
        statements = statements_in(read.tokens, read.language, is_question=read.is_question, is_listed=read.is_listed)
        everything = range(len(read.tokens))
        if read.has("imperative"):
            statements = [statement for statement in statements if statement.is_first]
        for statement in statements:
            if statement.is_generic and read.has("ignore"):
                continue
            if (finding := self._finding(read, statement)) is not None:
                claims.append(Claim(text=read.text, verdict=finding.verdict, receipt_ref=finding.receipt_ref, language=read.language))
        if not claims and not read.is_question and read.has("unchanged"):
            said = Said("update", facts_in(read.plain, read.tokens, everything, -1, read.language), _content(read, everything))
            finding = self._undone(said._replace(facts=Facts(classes=said.facts.classes)), is_whole=True)
            claims.append(Claim(text=read.text, verdict=finding.verdict, receipt_ref=finding.receipt_ref, language=read.language))
        if not statements and not read.is_question and not read.has("ignore"):
            for sense in ("generic", "send"):
                if (found := read.has(sense)) and not read.is_unreal(found):
                    facts = facts_in(read.plain, read.tokens, everything, -1, read.language)
                    said = Said("do" if sense == "generic" else sense, facts, _content(read, everything), sense == "generic", self._failures > 0)
                    if is_reported(said, self.calls):
                        break
                    finding = match_done(said, self.calls)
                    claims.append(Claim(text=read.text, verdict=finding.verdict, receipt_ref=finding.receipt_ref, language=read.language))
                    break
        self._asked = None
        if read.is_question or (not statements and len(read.tokens) < 8):
            self._asked = facts_in(read.plain, read.tokens, everything, -1, read.language)
        return claims

    def _finding(self, read: _Read, statement: Statement) -> Finding | None:
        """The verdict on one statement; None if it is not about an action of the assistant after all."""
        span = range(statement.start if statement.is_first else _left(read, statement), statement.end)
        facts = facts_in(read.plain, read.tokens, span, statement.verb, read.language)
        if facts.is_empty and any(set(read.words.marks.get(read.tokens[at].text, "")) & set("PX") for at in span):
            facts = facts_in(read.plain, read.tokens, range(len(read.tokens)), statement.verb, read.language)
        if facts.is_empty and self._asked is not None and len(read.tokens) < 5:
            facts = self._asked
        said = Said(statement.sense, facts, _content(read, span), statement.is_generic, self._failures > 0)
        if statement.mood == "undone":
            return self._undone(said, any(read.tokens[at].text in _WHOLE for at in span))
        if statement.is_first and statement.sense in ("read", "run") and not _ONLY.isdisjoint(read.tokens[at].text for at in span):
            done = [call for call in self.calls if call.succeeded and not call.is_read and "draft" not in call.senses]
            if done and statement.sense == "read":
                return Finding("contradicted", done[-1].evidence.receipt_ref)
        if statement.mood == "read":
            return match_read(said, self.calls) if statement.is_first else None
        if statement.is_first:
            if self._is_text(read, statement, facts):
                return None
        elif self._is_background(read, statement, said):
            return None
        return self._cited(said) or match_done(said, self._meant(facts))

    def _meant(self, facts: Facts) -> list[Call]:
        """The calls that a statement cites, or all."""
        return [call for call in self.calls if {call.evidence.receipt_ref, call.evidence.call_id} & {*facts.cited}] or self.calls

    def _undone(self, said: Said, is_whole: bool) -> Finding:
        return match_undone(said._replace(facts=said.facts._replace(counts=(), numbers=(), is_all=False)), self.calls, is_whole=is_whole)

    def _is_background(self, read: _Read, statement: Statement, said: Said) -> bool:
        """Whether a statement without an `I` reports what was read, or explains how things work."""
        if is_reported(said, self.calls):
            return True
        reported = read.has("report")
        if reported and reported.start() < read.tokens[statement.verb].start and self.calls:
            return True
        if not any(not call.is_read for call in self.calls):
            dated = facts_in(read.plain, read.tokens, range(len(read.tokens)), statement.verb, read.language)
            if dated.dates and is_reported(said._replace(facts=Facts(dates=dated.dates)), self.calls):
                return True
        yours = any(token.text in _YOURS for token in read.tokens)
        if self._is_expository and not yours and len(read.tokens) > 6:
            return True
        if statement.mood == "state":
            return not self.calls and not yours and len(read.tokens) > 12
        return False

    def _is_text(self, read: _Read, statement: Statement, facts: Facts) -> bool:
        """Whether only the text of this conversation was worked on, which needs no tool."""
        if statement.sense not in ("create", "update", "write", "delete", "move", "any", "save", "do", "set") or facts.places:
            return False
        if any(_fits_text(call) for call in self.calls):
            return False
        if "text" in facts.classes or (self._is_text_work and not facts.classes):
            self._is_text_work = True
            return True
        return False

    def _cited(self, said: Said) -> Finding | None:
        """The verdict on a citation that does not hold: every cited call must be there and have succeeded."""
        known = {ref: call for call in self.calls for ref in (call.evidence.receipt_ref, call.evidence.call_id) if ref}
        for ref in said.facts.cited:
            call = known.get(ref)
            if call is None:
                return Finding("unverified")
            if not call.succeeded and not (said.is_disclosed and said.sense in ("submit", "start")):
                return Finding("contradicted", ref)
        return None

    def _unsaid(self, plain: str, language: str) -> Finding:
        """The verdict on a sentence about a call that did not succeed, in an answer that nowhere says so."""
        if self._failures:
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
            if any(set(read.marks.get(token.text, "")) & set("MCN") and token.text not in ("to", "a", "de", "zu", "para", "pour", "por", "que", "d'") for token in tokens):
                return Finding("not_an_action")
            words = {folded(token.text) for token in tokens if token.kind == "word" and not read.marks.get(token.text) and len(token.text) > 2}
        for call in left:
            if words & (call.words - {"exit", "error", "not"}):
                return Finding("contradicted", call.evidence.receipt_ref)
        return Finding("not_an_action")

    def _chinese(self, text: str, plain: str) -> list[Claim]:
        claims = []
        for statement in statements_in_chinese(plain):
            content = frozenset(re.findall(r"[a-z0-9]{2,}", folded(statement.text))) | pairs_of(statement.text)
            said = Said(statement.sense, statement.facts, frozenset(content), statement.is_generic, self._failures > 0)
            mood: Mood = statement.mood
            if mood == "undone":
                finding = self._undone(said, bool(re.search(r"任何|没有|什么都|未", statement.text)))
            elif mood == "read":
                finding = match_read(said, self.calls)
            elif not statement.is_first and (is_reported(said, self.calls) or self._is_expository):
                continue
            else:
                finding = self._cited(said) or match_done(said, self._meant(statement.facts))
            claims.append(Claim(text=text, verdict=finding.verdict, receipt_ref=finding.receipt_ref, language="zh"))
        return claims


def _fits_text(call: Call) -> bool:
    """Whether a call changed something that text is kept in."""
    return not call.is_read and bool(call.classes & {"file", "record", "repo"})


def _without_bullet(text: str) -> str:
    return re.sub(r"^[\s>]*(?:[-*+•·▪◦‣–—]\s+|\d{1,3}[.)]\s+|#{1,6}\s+|\|\s*|\[[ xX✓]?\]\s*|[✅☑✔✓🎉👍🟢]\s*)+", "", text)  # noqa: RUF001


def _left(read: _Read, statement: Statement) -> int:
    """Where the noun of a statement without a subject may begin: clauses before it that have no verb."""
    at = statement.start
    while at > 0:
        token = read.tokens[at - 1]
        if set(read.words.marks.get(token.text, "")) & set("IYTHBSMC") or token.text in read.words.forms or token.text in (";", ".", "!", "?"):
            break
        at -= 1
    return at


def _content(read: _Read, span: range) -> frozenset[str]:
    """The words of a span that are about things, without case and accents."""
    return frozenset(
        folded(token.text)
        for token in (read.tokens[at] for at in span)
        if token.kind == "word" and not read.words.marks.get(token.text) and len(token.text) > 2
    )
