"""Checking an answer against the evidence, sentence by sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from coilclaw.evidence.grounding.calls import Call, calls_of
from coilclaw.evidence.grounding.chinese import has_chinese, statements_in_chinese
from coilclaw.evidence.grounding.facts import Facts, facts_in
from coilclaw.evidence.grounding.grammar import grammar
from coilclaw.evidence.grounding.matching import Finding, match_done, match_read, match_undone
from coilclaw.evidence.grounding.normal_text import folded, normal
from coilclaw.evidence.grounding.sentences import Sentence, sentences_of
from coilclaw.evidence.grounding.statements import Statement, language_of, statements_in
from coilclaw.evidence.grounding.tokens import Token, tokens_of
from coilclaw.evidence.grounding.values import Claim, Evidence, Grounding

__all__ = ["Checker", "check_answer"]

_WHOLE: Final = frozenset(
    "nothing anything no none any nobody never nichts kein keine keinen keinerlei nie nada ningún ninguna ninguno nunca rien aucun aucune jamais".split()
)


def check_answer(answer: str, evidence: Iterable[Evidence]) -> Grounding:
    """Check every sentence of an answer against the evidence."""
    sentences = sentences_of(answer)
    checker = Checker(evidence)
    checker.look_ahead(sentences)
    return Grounding(claims=tuple(claim for sentence in sentences for claim in checker.check(sentence)))


class Checker:
    """Checks the sentences of one answer in their order, each in the light of those before it."""

    def __init__(self, evidence: Iterable[Evidence]) -> None:
        self.calls: list[Call] = calls_of(evidence)
        self._is_disclosed = False
        self._asked: Facts | None = None  # What a fragment before this sentence named.
        self._intro = False

    def look_ahead(self, sentences: Sequence[Sentence]) -> None:
        """Note whether the answer says somewhere that something was not done."""
        self._is_disclosed = any(_discloses(sentence) for sentence in sentences)

    def check(self, sentence: Sentence) -> list[Claim]:
        text = sentence.text.strip()
        if not text:
            return []
        if sentence.kind in ("code", "quote"):
            return [Claim(text=text, verdict="not_an_action")]
        plain = normal(text)
        claims = []
        language = "en"
        if has_chinese(plain):
            language = "zh"
            claims += self._chinese(text, plain)
        if sum(char.isascii() and char.isalpha() for char in plain) * 2 > len(plain) or not has_chinese(plain):
            tokens = tokens_of(_without_bullet(plain))
            if tokens:
                language = language_of(tokens)
                claims += self._latin(text, _without_bullet(plain), tokens, sentence, language)
        if not claims:
            claims.append(Claim(text=text, verdict="not_an_action", language=language))
        return claims

    def _latin(self, text: str, plain: str, tokens: list[Token], sentence: Sentence, language: str) -> list[Claim]:
        words = grammar(language)
        is_question = plain.rstrip("\"'”)* ").endswith("?")
        listed = sentence.kind in ("item", "row", "heading")
        statements = statements_in(tokens, language, is_question=is_question, is_listed=listed)
        lower = plain.lower()
        ignore = words.phrases["ignore"].search(lower)
        claims = []
        for statement in statements:
            if statement.is_generic and ignore:
                continue
            claims.append(self._latin_claim(text, plain, tokens, statement, language))
        if not statements and not is_question and not ignore:
            for sense in ("generic", "send"):
                if (found := words.phrases[sense].search(lower)) and not self._is_unreal(tokens, words):
                    everything = Facts() if sense == "generic" else facts_in(plain, tokens, range(len(tokens)), -1, language)
                    finding = match_done("do" if sense == "generic" else sense, everything, self.calls, is_generic=sense == "generic", is_disclosed=self._is_disclosed, words=_content(tokens, range(len(tokens)), words))
                    claims.append(_claim(text, finding, language))
                    break
        self._asked = facts_in(plain, tokens, range(len(tokens)), -1, language) if is_question or not statements and len(tokens) < 8 else None
        return claims

    def _is_unreal(self, tokens: list[Token], words: object) -> bool:
        from coilclaw.evidence.grounding.grammar import Grammar

        assert isinstance(words, Grammar)
        marks = "".join(words.marks.get(token.text, "") for token in tokens)
        return "C" in marks or "N" in marks or "M" in marks

    def _latin_claim(self, text: str, plain: str, tokens: list[Token], statement: Statement, language: str) -> Claim:
        words = grammar(language)
        start = statement.start
        if not statement.is_first:
            start = _left(tokens, statement, words)
        span = range(start, statement.end)
        facts = facts_in(plain, tokens, span, statement.verb, language)
        if facts.is_empty and self._asked is not None and len(tokens) < 5:
            facts = self._asked
        content = _content(tokens, span, words)
        if statement.mood == "undone":
            whole = any(tokens[at].text in _WHOLE for at in span)
            finding = match_undone(statement.sense, facts._replace(counts=(), numbers=()), self.calls, is_whole=whole, words=content)
        elif statement.mood == "read":
            finding = match_read(facts, self.calls, content)
        else:
            finding = self._cited(facts) or match_done(statement.sense, facts, self.calls, is_generic=statement.is_generic, is_disclosed=self._is_disclosed, words=content)
        return _claim(text, finding, language)

    def _cited(self, facts: Facts) -> Finding | None:
        """The verdict on a citation: every cited call must be there and have succeeded."""
        if not facts.cited:
            return None
        known = {ref: call for call in self.calls for ref in (call.evidence.receipt_ref, call.evidence.call_id) if ref}
        for ref in facts.cited:
            call = known.get(ref)
            if call is None:
                return Finding("unverified")
            if not call.succeeded:
                return Finding("contradicted", ref)
        return None

    def _chinese(self, text: str, plain: str) -> list[Claim]:
        claims = []
        for statement in statements_in_chinese(plain):
            content = frozenset(re.findall(r"[a-z0-9]{2,}", folded(statement.text)))
            if statement.mood == "undone":
                whole = bool(re.search(r"任何|没有|什么都", statement.text))
                finding = match_undone(statement.sense, statement.facts._replace(counts=(), numbers=()), self.calls, is_whole=whole, words=content)
            elif statement.mood == "read":
                finding = match_read(statement.facts, self.calls, content)
            else:
                finding = self._cited(statement.facts) or match_done(statement.sense, statement.facts, self.calls, is_generic=statement.is_generic, is_disclosed=self._is_disclosed, words=content)
            claims.append(_claim(text, finding, "zh"))
        return claims


def _claim(text: str, finding: Finding, language: str) -> Claim:
    return Claim(text=text, verdict=finding.verdict, receipt_ref=finding.receipt_ref, language=language)


def _without_bullet(text: str) -> str:
    return re.sub(r"^[\s>]*(?:[-*+•·▪◦‣–—]\s+|\d{1,3}[.)]\s+|#{1,6}\s+|\|\s*|\[[ xX✓]?\]\s*|[✅☑✔✓🎉👍🟢]\s*)+", "", text)  # noqa: RUF001


def _left(tokens: list[Token], statement: Statement, words: object) -> int:
    """Where the noun of a statement without a subject may begin: clauses before it that have no verb."""
    from coilclaw.evidence.grounding.grammar import Grammar

    assert isinstance(words, Grammar)
    at = statement.start
    while at > 0:
        token = tokens[at - 1]
        if set(words.marks.get(token.text, "")) & set("IYTHBSMC") or token.text in words.forms or token.text in (";", ".", "!", "?"):
            break
        at -= 1
    return at


def _content(tokens: list[Token], span: range, words: object) -> frozenset[str]:
    from coilclaw.evidence.grounding.grammar import Grammar

    assert isinstance(words, Grammar)
    return frozenset(
        folded(tokens[at].text) for at in span if tokens[at].kind == "word" and not words.marks.get(tokens[at].text) and len(tokens[at].text) > 2
    )


def _discloses(sentence: Sentence) -> bool:
    """Whether a sentence says that something failed, was refused, or still waits."""
    text = normal(sentence.text)
    if re.search(r"失败|未能|无法|没有|拒绝|等待|待[审批确]|尚未|还没", text):
        return True
    tokens = tokens_of(text)
    marks = grammar(language_of(tokens)).marks
    return any(set(marks.get(token.text, "")) & {"F", "N"} for token in tokens)
