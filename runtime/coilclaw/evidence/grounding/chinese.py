"""What a Chinese sentence says was done. Words are not separated, so clauses are searched rather than parsed."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final, NamedTuple

from coilclaw.evidence.grounding.facts import Facts, choices_in
from coilclaw.evidence.grounding.figures import dates_in, days_in_chinese, number_of, spelled, times_in
from coilclaw.evidence.grounding.normal_text import folded, has_chinese
from coilclaw.evidence.grounding.statements import Mood

__all__ = ["ChineseStatement", "classes_in", "people_in", "senses_in", "statements_in_chinese", "verbs_in"]

_BREAK: Final = re.compile(r"[,，;；。!！?？:：\n()（）|]|——|—")
_QUOTED: Final = re.compile(
    r"“[^”\n]{0,2000}”|\"[^\"\n]{0,2000}\"|「[^」\n]{0,2000}」|『[^』\n]{0,2000}』"
    r"|`[^`\n]{0,400}`|《[^》\n]{0,200}》|‘[^’\n]{0,500}’"
)
_LATIN: Final = re.compile(r"[\w.+-]+@[\w.-]+\w|https?://[\w./%-]+|[/~][\w./-]+|[A-Za-z][\w.#/-]*\w|[A-Z]")
_COUNT: Final = re.compile(
    r"(?<![第周期月\dA-Za-z.,-])([零一二两三四五六七八九十]{1,3}|\d{1,6})\s*(?=[\u3400-\u9fff])"
    r"(?![^，,。]{0,6}中[，,])(?![零一二两三四五六七八九十月日号点时分年元块天周小岁级楼切起直般定些下旦样致百千万亿版毫秒兆度米公斤克])"
)
_NUMBER: Final = re.compile(r"\d[\d,.]*")
_CITED: Final = re.compile(r"\[((?:receipt|call|run)[-_:][\w:.-]+)\]")


_NOMINAL: Final = re.compile(
    r"组|部门|方式|服务|页面|功能|系统|团队|状态|时间|结果|政策|流程|按钮|选项|记录|人员|专员|中心|平台|渠道|费"
)
"""Words that a verb before them makes a name: `支付组`."""
_FOR_YOU: Final = re.compile(r"(?:帮|为|替|给)(?:您|你)(?!们?的)")
"""For whom the assistant acts, which it need not mention itself."""
_ASKED_FOR: Final = re.compile(r"(?<![申邀])请(?!求|假|柬)|是否|如果|若|一旦|假如|倘若|除非|的话")
"""What makes a clause unreal even where it tells something as done."""
_UNDONE: Final = re.compile(r"退回来|被退|退信|失败|超时|出错|报错")
"""What became of an action that did not succeed."""


class ChineseStatement(NamedTuple):
    mood: Mood
    sense: str
    text: str
    facts: Facts
    is_first: bool
    is_generic: bool


class _Tables(NamedTuple):
    verb: re.Pattern[str]
    senses: dict[str, str]
    nouns: dict[str, str]
    patterns: dict[str, re.Pattern[str]]


@lru_cache
def _tables() -> _Tables:
    from coilclaw.evidence.grounding.languages import zh

    senses: dict[str, str] = {}
    nouns: dict[str, str] = {}
    for source, into in ((zh.VERBS, senses), (zh.NOUNS, nouns)):
        for line in source.strip().splitlines():
            name, _, words = line.partition(":")
            into.update((word, name.strip()) for word in words.split() if word not in into)
    patterns = sorted(senses, key=len, reverse=True)
    for line in zh.ROOTS.strip().splitlines():
        name, _, roots = line.partition(":")
        for root, others in re.findall(r"(\S)(?:\[(\S+?)\])?", roots):
            senses.setdefault(root, name)
            patterns.append(f"{f'(?<![{others}])' if others else ''}{root}(?={zh.RESULTS})")
    names = ("GENERIC", "DONE_BEFORE", "DONE_AFTER", "NEGATED", "IRREAL", "OTHERS", "OVER", "FRAME")
    return _Tables(
        re.compile("|".join(patterns)), senses, nouns, {name: re.compile(getattr(zh, name)) for name in names}
    )


@lru_cache
def _person() -> re.Pattern[str]:
    from coilclaw.evidence.grounding.languages.zh import PERSON

    return re.compile(rf"(?:(?:给|向|通知|告诉|邀请|联系|跟|to)了?\s?|^)({PERSON})")


def people_in(text: str) -> list[str]:
    """The names of people to whom something was done, by the characters that are sure to belong to them."""
    return [name[:2] for name in _person().findall(text)] if has_chinese(text) else []


def verbs_in(text: str) -> int:
    """How many verbs a text has, however they are used."""
    return sum(1 for _ in _tables().verb.finditer(text))


def senses_in(text: str) -> set[str]:
    """The senses of all verbs in a text, however they are used."""
    if text.isascii() or not has_chinese(text):
        return set()
    tables = _tables()
    return {tables.senses[match.group()] for match in tables.verb.finditer(text)}


def classes_in(text: str) -> frozenset[str]:
    """The classes of things that a text names."""
    return (
        frozenset(kind for word, kind in _tables().nouns.items() if word in text) if has_chinese(text) else frozenset()
    )


def statements_in_chinese(text: str) -> list[ChineseStatement]:
    tables = _tables()
    quotes = [match.group()[1:-1] for match in _QUOTED.finditer(text)]
    plain = _QUOTED.sub(lambda match: "〇" * len(match.group()), text)
    found: list[ChineseStatement] = []
    first_seen = False
    irreal_before = others_before = False
    start = 0
    ends = [*(match.start() for match in _BREAK.finditer(plain)), len(plain)]
    pending = 0  # Where the facts of the next statement may begin: clauses without a verb belong to what follows.
    for end in ends:
        clause = plain[start:end]
        asked = plain[end : end + 1] in ("?", "？")
        if clause.strip():
            first_seen |= "我" in clause or _FOR_YOU.search(clause) is not None
            others_before = "我" not in clause and (
                bool(tables.patterns["OTHERS"].search(clause))
                or (others_before and bool(re.match(r"\s*(?:也|并|还|又|且|而且|然后)", clause)))
            )
            mood, sense, generic = _read(clause, asked, tables, irreal_before)
            if others_before and not tables.patterns["OTHERS"].search(clause):
                mood = None
            irreal_before = (
                bool(re.match(r"请(?!求)", clause.strip()))
                or bool(re.search(r"如果|若|一旦|假如|只要|等(?!待)|当", clause))
                or (irreal_before and not mood)
            )
            if mood is not None:
                span = text[pending:end]
                facts = _facts(span, [quote for quote in quotes if quote in span], tables)
                found.append(ChineseStatement(mood, sense, text[start:end].strip(), facts, first_seen, generic))
            if mood is not None or tables.verb.search(clause):
                pending = end + 1
        start = end + 1
    if (
        found
        and pending < len(text)
        and not tables.verb.search(plain[pending:])
        and not tables.patterns["NEGATED"].search(plain[pending:])
        and not _UNDONE.search(plain[pending:])
    ):
        last = found[-1]
        more = _facts(text[pending:], [quote for quote in quotes if quote in text[pending:]], tables)
        found[-1] = last._replace(facts=_joined(last.facts, more))
    return found


def _read(clause: str, asked: bool, tables: _Tables, irreal_before: bool) -> tuple[Mood | None, str, bool]:
    match = tables.patterns
    if asked or re.search(r"吗|呢$|吧$", clause):
        return None, "", False
    verbs = list(tables.verb.finditer(clause))
    best: tuple[Mood | None, str, bool] = (None, "", False)
    for verb in verbs:
        before, after = clause[: verb.start()], clause[verb.end() :]
        if after[:1] == "的" or (_NOMINAL.match(after) and not match["DONE_BEFORE"].search(before)):
            continue  # What was done is said of a thing.
        sense = tables.senses[verb.group()]
        negated = match["NEGATED"].search(before) or match["NEGATED"].search(after[:8]) or _UNDONE.search(clause)
        others = match["OTHERS"].search(before) and "我" not in before
        over = match["OVER"].search(clause) and "我" not in before
        if (
            _ASKED_FOR.search(before)
            or (match["IRREAL"].search(before) and "已" not in before)
            or (irreal_before and "我" not in before)
        ):
            continue
        done = match["DONE_BEFORE"].search(before) or match["DONE_AFTER"].search(after) or "了" in verb.group()
        if others or over or re.match(r"(?:后|之后|以后|时|之前|前)", after):
            continue
        if negated:
            if re.search(r"没|未|不|无|失败|退", negated.group()) and (done or re.search(r"没|未", clause)):
                best = ("undone", sense, False)
            continue
        if done:
            mood: Mood = "read" if sense == "read" else "done"
            return mood, sense, sense == "do"
    if best[0] is not None or verbs or match["IRREAL"].search(clause):
        return best
    if match["NEGATED"].search(clause):
        return ("undone", "any", False) if "任何" in clause else best
    if match["OTHERS"].search(clause) and "我" not in clause:
        return best
    if match["FRAME"].search(clause) and not match["OVER"].search(clause):
        return "done", "any", False
    if match["GENERIC"].search(clause):
        return "done", "do", True
    return best


def _facts(text: str, quotes: list[str], tables: _Tables) -> Facts:
    bare = _QUOTED.sub(" ", text)
    cited = _CITED.findall(bare)
    bare = _CITED.sub(" ", bare)
    latin = [each for each in _LATIN.findall(bare) if not each.isdigit()]
    names = tuple(
        (folded(each),)
        for each in latin
        if each[:1].isupper() and each.isalpha() and len(each) > 1 and each not in ("PDF", "ID", "OK", "VIP")
    )
    names += tuple((name,) for name in people_in(bare))
    places = tuple(each for each in latin if not each.isalpha())
    dates, times = dates_in(bare), times_in(bare)
    counts = [spelled(each) for each in _COUNT.findall(bare)]
    rest = _COUNT.sub(
        " ",
        re.sub(
            r"\d+\s*(?:月|日|号|点|时|分|年|小时|分钟|天|周)(?:\s*\d+\s*(?:日|号|分))?|\d{1,2}:\d\d"
            r"|\d{4}-\d\d-\d\d|[A-Za-z][\w.#/-]*",
            " ",
            bare,
        ),
    )
    numbers = tuple(number for each in _NUMBER.findall(rest) if (number := number_of(each)) is not None)
    classes = frozenset(kind for word, kind in tables.nouns.items() if word in bare)
    return Facts(
        names=names,
        places=places,
        quotes=tuple(quotes),
        numbers=numbers,
        counts=tuple(each for each in counts if each > 1),
        dates=tuple(dates),
        days=tuple(days_in_chinese(bare)),
        times=tuple(times),
        classes=classes,
        is_all=re.search(r"全部|所有|都已|均已|全都", bare) is not None,
        cited=tuple(cited),
        choices=choices_in(map(folded, latin), bare),
    )


def _joined(one: Facts, other: Facts) -> Facts:
    joined: list[Any] = []
    for mine, its in zip(one, other, strict=True):
        joined.append((*mine, *its) if isinstance(mine, tuple) and isinstance(its, tuple) else mine or its)
    return Facts(*joined)
