"""Whether a sentence says that something did not succeed: it failed, was refused, waits, or was left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from coilclaw.evidence.grounding.calls import Call
from coilclaw.evidence.grounding.facts import stems_of
from coilclaw.evidence.grounding.grammar import LATIN, Grammar, class_of_noun, grammar, sense_of
from coilclaw.evidence.grounding.languages.shared import NO_MATTER
from coilclaw.evidence.grounding.normal_text import folded
from coilclaw.evidence.grounding.tokens import Token

__all__ = ["SETBACK_IN_CHINESE", "reasons_of", "tells_setback"]

SETBACK_IN_CHINESE: Final = re.compile(
    r"失败|未能|无法|没有|没能|没[^，。]{0,4}(?:成|上|到|掉|出|通)|拒绝|被拒|等待|待[审批确]|尚未|暂未|处理中|审核中|进行中|还在|仍在|正在|还没"
    r"|未(?:获|被|经)|批准|审批|授权|出错|报错|无效|退回来|被退|退信|超时|不(?:通|成|了|到|够|足|存在)|中断|只有|❌|⏳"
)
_REASON: Final = re.compile(r"[^\W\d_]{4,}")


def reasons_of(calls: Iterable[Call]) -> frozenset[str]:
    """The words with which calls that did not succeed say why, apart from those for what was to be done to what."""
    found: set[str] = set()
    for call in calls:
        told = _REASON.findall(call.summary)
        if call.succeeded or (told and _is_description(told[0].lower())):
            continue
        given = folded(f"{call.given} {call.evidence.tool_id}")
        for word in told:
            lower = word.lower()
            if folded(word) not in given and not (sense_of(lower) or class_of_noun(lower)):
                found.add(folded(word))
    return frozenset(stems_of(found))


def _is_description(word: str) -> bool:
    """Whether a summary begins with a verb, and so says what the call was to do: `Sending mail to Ana`."""
    form = sense_of(word)
    return form is not None and form.kind in ("progress", "base")


def tells_setback(plain: str, tokens: Sequence[Token], read: Grammar, reasons: frozenset[str]) -> bool:
    """Whether a sentence says that something did not succeed, in general or with the reason that a call gave."""
    if SETBACK_IN_CHINESE.search(plain):
        return True
    words = [token.text for token in tokens if token.kind == "word"]
    if any("F" in grammar(code).marks.get(word, "") for word in words for code in LATIN):
        return True
    lower = plain.lower()
    if read.phrases["open"].search(lower):
        return True
    if any("N" in read.marks.get(word, "") for word in words) and not NO_MATTER.search(lower):
        return True
    return not reasons.isdisjoint(stems_of(map(folded, words)))
