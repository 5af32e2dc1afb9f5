"""Names, numbers, dates, times and places that a text mentions, in a form that can be compared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Final, NamedTuple

from coilclaw.evidence.grounding.grammar import Grammar, class_of_noun, grammar
from coilclaw.evidence.grounding.normal_text import folded
from coilclaw.evidence.grounding.tokens import Token

__all__ = ["Facts", "dates_in", "days_in_chinese", "facts_in", "number_of", "numbers_in", "pairs_of", "times_in"]

_MONTHS: Final = (
    "january januar enero janvier jan jänner ene", "february februar febrero février feb fév fevrier", "march märz marzo mars mar mär",
    "april abril avril apr abr", "may mai mayo", "june juni junio juin jun", "july juli julio juillet jul", "august agosto août aug ago aout",
    "september septiembre septembre sep sept", "october oktober octubre octobre oct okt", "november noviembre novembre nov",
    "december dezember diciembre décembre dec dez dic déc",
)  # fmt: skip
_DAYS: Final = (
    "monday montag lunes lundi mon", "tuesday dienstag martes mardi tue", "wednesday mittwoch miércoles mercredi wed", "thursday donnerstag jueves jeudi thu",
    "friday freitag viernes vendredi fri", "saturday samstag sonnabend sábado samedi sat", "sunday sonntag domingo dimanche sun",
)  # fmt: skip
MONTH: Final = {word: at + 1 for at, words in enumerate(_MONTHS) for word in words.split()}
DAY: Final = {word: at for at, words in enumerate(_DAYS) for word in words.split()}
_ISO: Final = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_DOTTED: Final = re.compile(r"(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.(?:(\d{4}|\d{2})(?!\d))?|(?<![\d/])(\d{1,2})/(\d{1,2})(?:/(\d{4}))?(?![\d/])|(?<!\d)(\d{1,2})\s*月\s*(\d{1,2})\s*[日号]")
_TIME: Final = re.compile(r"(?<![\d:.])([01]?\d|2[0-4])[:.h]([0-5]\d)(?![\d.])\s*(am|pm|a\.m|p\.m|AM|PM)?|(?<![\d:.,])(\d{1,2})\s*(am|pm|a\.m|p\.m|AM|PM|Uhr|uhr|h\b|heures?|点|時|时)")
_NUMBER: Final = re.compile(r"\d[\d.,' \u202f]*\d|\d")
_SHORT_DATE: Final = re.compile(r"(?<![\d-])(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?![\d-])")
_HAN: Final = re.compile(r"[\u3400-\u9fff]{2,}")
_HAN_DAY: Final = re.compile(r"(?:周|星期|礼拜)([一二三四五六日天])")
_HAN_TIME: Final = re.compile(r"(早上|上午|下午|晚上|中午|凌晨)?([零一二两三四五六七八九十\d]{1,3})点(半|[一二三四五六七八九十]{1,3}分|\d{1,2}分)?")
_CURRENCY: Final = re.compile(r"[€$£¥]|EUR|USD|GBP|CHF|CNY|euros?\b|dollars?\b|pounds?\b|元|块")
_SPANS: Final = frozenset(
    "hour hours minute minutes day days week weeks month months year years night nights second seconds stunde stunden minute minuten tag tage tagen woche wochen monat monate "
    "hora horas minuto minutos día días semana semanas mes meses heure heures minutes jour jours semaine semaines mois ans años seconds working business".split()
)


class Facts(NamedTuple):
    """What a statement says besides its verb."""

    names: tuple[tuple[str, ...], ...] = ()
    places: tuple[str, ...] = ()
    quotes: tuple[str, ...] = ()
    numbers: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()
    dates: tuple[tuple[int, int], ...] = ()
    days: tuple[int, ...] = ()
    times: tuple[tuple[int, int], ...] = ()
    classes: frozenset[str] = frozenset()
    nouns: tuple[str, ...] = ()
    is_all: bool = False
    """Whether it is said of everything there was to do."""
    cited: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.names or self.places or self.quotes or self.numbers or self.counts or self.dates or self.days or self.times)


def number_of(text: str) -> float | None:
    """A number written in any of our languages: `1,200.50`, `1.200,50`, `1 200`."""
    digits = re.sub(r"[^\d.,]", "", text).rstrip(".,")
    if not digits:
        return None
    comma, dot = digits.rfind(","), digits.rfind(".")
    if comma >= 0 and dot >= 0:
        mark = "," if comma > dot else "."
        digits = digits.replace("." if mark == "," else ",", "").replace(mark, ".")
    elif comma >= 0 or dot >= 0:
        mark = "," if comma >= 0 else "."
        parts = digits.split(mark)
        digits = "".join(parts) if len(parts) > 2 or (len(parts[-1]) == 3 and parts[0] not in ("0", "")) else ".".join(parts)
    try:
        return float(digits)
    except ValueError:
        return None


def numbers_in(text: str) -> set[float]:
    found = set()
    for match in _NUMBER.finditer(text):
        for part in {match.group(), *re.split(r"[ ,'\u202f]", match.group())}:
            if (number := number_of(part)) is not None:
                found.add(number)
    return found


def dates_in(text: str) -> set[tuple[int, int]]:
    found = {(int(month), int(day)) for _, month, day in _ISO.findall(text)}
    for match in _DOTTED.finditer(text):
        first, second = (match.group(1) or match.group(4) or match.group(8)), (match.group(2) or match.group(5) or match.group(7))
        if match.group(7):
            found.add((int(match.group(7)), int(match.group(8))))
            continue
        day, month = int(first), int(second)
        if 1 <= month <= 12:
            found.add((month, day))
        if match.group(4) and 1 <= day <= 12:
            found.add((day, month))
    found |= {(int(month), int(day)) for month, day in _SHORT_DATE.findall(text)}
    words = re.findall(r"[^\W\d_]+|\d{1,2}", text.lower())
    for at, word in enumerate(words):
        if word in MONTH and word not in ("may", "mar", "sun", "mon"):
            for near in (*range(at - 2, at), at + 1):
                if 0 <= near < len(words) and words[near].isdigit():
                    found.add((MONTH[word], int(words[near])))
        elif word == "may" and at and (words[at - 1].isdigit() or at + 1 < len(words) and words[at + 1].isdigit()):
            for near in (at - 1, at + 1):
                if near < len(words) and words[near].isdigit():
                    found.add((5, int(words[near])))
    return found


def pairs_of(text: str) -> set[str]:
    """Every two neighbouring Chinese characters of a text, which stand in for its words."""
    if text.isascii():
        return set()
    return {run[at : at + 2] for run in _HAN.findall(text) for at in range(len(run) - 1)}


def days_in_chinese(text: str) -> set[int]:
    return set() if text.isascii() else {"一二三四五六日天".index(day) % 7 if day != "天" else 6 for day in _HAN_DAY.findall(text)}


def years_in(text: str) -> list[date]:
    found = []
    for year, month, day in _ISO.findall(text):
        try:
            found.append(date(int(year), int(month), int(day)))
        except ValueError:
            continue
    return found


def times_in(text: str) -> set[tuple[int, int]]:
    found: set[tuple[int, int]] = set()
    if re.search(r"y media|et demie|halb |half past|quarter|y cuarto|menos cuarto|et quart|viertel", text, re.IGNORECASE):
        return found
    for match in _TIME.finditer(text):
        hour, minute, half, bare, unit = match.groups()
        at = int(hour or bare)
        half = (half or unit or "").lower()[:1]
        if half == "p" and at < 12:
            at += 12
        elif half == "a" and at == 12:
            at = 0
        found.add((at % 24, int(minute or 0)))
    if not text.isascii():
        for part, hour, rest in _HAN_TIME.findall(text):
            at = spelled(hour) + (12 if part in ("下午", "晚上") and spelled(hour) < 12 else 0)
            found.discard((spelled(hour), 0))
            found.add((at % 24, 30 if rest == "半" else spelled(rest.rstrip("分")) if rest else 0))
    return found


_SPELLED: Final = {"零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}


def spelled(text: str) -> int:
    """A small number in Chinese or Arabic digits."""
    if text.isdigit():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    if not ten:
        return _SPELLED.get(text, 0)
    return (_SPELLED.get(tens, 1) if tens else 1) * 10 + (_SPELLED.get(ones, 0) if ones else 0)


def facts_in(text: str, tokens: Sequence[Token], span: range, verb: int, code: str) -> Facts:
    """The facts among the tokens of a span. `text` is the sentence that they are from."""
    words = grammar(code)
    chosen = [at for at in span if at != verb]
    part = text[tokens[span.start].start : tokens[span.stop - 1].end] if len(span) else ""
    dates, times = dates_in(part), times_in(part)
    names: list[tuple[str, ...]] = []
    places, quotes, cited, nouns = [], [], [], []
    numbers: list[float] = []
    counts: list[int] = []
    days: list[int] = []
    classes: set[str] = set()
    is_all = False
    for at in chosen:
        token = tokens[at]
        if token.kind == "place":
            bare = token.raw.strip("`[]")
            if token.raw.startswith("[") or re.fullmatch(r"(?:receipt|call)[-_][\w-]+", bare):
                cited.append(bare)
            elif not _ISO.search(bare) and not re.fullmatch(r"\d{1,2}[-–]\d{1,2}", bare):
                places.append(bare)
        elif token.kind == "quote":
            quotes.append(token.raw[1:-1])
        elif token.kind == "number":
            _note_number(token, at, tokens, part, dates, times, numbers, counts)
        elif token.kind == "word":
            if token.text in DAY and (token.text not in ("mon", "sat", "sun", "mar") or token.is_capital):
                days.append(DAY[token.text])
            elif token.text in words.numbers and words.numbers[token.text] != 1:
                follower = tokens[at + 1].text if at + 1 < len(tokens) else ""
                if follower not in _SPANS and not _is_total(at, tokens) and tokens[at - 1].text not in ("chapter", "section", "version"):
                    counts.append(words.numbers[token.text])
            elif token.text in ("both", "beide", "beiden", "ambos", "ambas"):
                counts.append(2)
            elif token.text in ("deux",) and code == "fr":
                counts.append(2)
            elif token.text in ("all", "every", "everything", "alle", "alles", "sämtliche", "todo", "todos", "todas", "tous", "toutes", "tout", "each", "jede", "chacun", "chaque"):
                is_all = True
            elif token.raw.isupper() and 1 < len(token.raw) < 4 and at + 1 < len(tokens) and tokens[at + 1].kind == "number":
                places.append(f"{token.raw}{tokens[at + 1].raw.strip()}")
            elif _is_name(token, at, tokens, words) and not (at + 1 < len(tokens) and tokens[at + 1].text == "'s"):
                _note_name(names, token, at, tokens)
            found = class_of_noun(token.text)
            if found:
                classes |= found
                nouns.append(token.text)
    return Facts(
        names=tuple(names), places=tuple(places), quotes=tuple(quotes), numbers=tuple(numbers), counts=tuple(counts),
        dates=tuple(dates), days=tuple(days), times=tuple(times), classes=frozenset(classes), nouns=tuple(nouns), is_all=is_all, cited=tuple(cited),
    )  # fmt: skip


def _note_number(token: Token, at: int, tokens: Sequence[Token], part: str, dates: set[tuple[int, int]], times: set[tuple[int, int]], numbers: list[float], counts: list[int]) -> None:
    number = number_of(token.raw)
    if number is None:
        return
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    before = tokens[at - 1].text if at else ""
    following = after.text if after else ""
    money = _CURRENCY.search(token.raw) or (after and _CURRENCY.match(after.raw)) or before in ("€", "$", "£", "¥", "eur", "usd", "chf", "gbp")
    if not money:
        if following in _SPANS or following in ("am", "pm", "uhr", "h", "heures", "o'clock") or ":" in token.raw and times:
            return
        if any(number in each for each in dates) or any(number == each[0] or number == each[0] % 12 for each in times) or _OVER.match(token.raw.strip()):
            return
        if after and after.kind == "word" and not grammar("en").marks.get(following) and following.isalpha() and number == int(number) and before not in ("#", "version", "v", "room", "page"):
            if _is_total(at, tokens):
                return
            if class_of_noun(following) or following.endswith(("s", "en", "e", "n")) and not after.is_capital:
                counts.append(int(number))
                return
    numbers.append(number)


def _is_total(at: int, tokens: Sequence[Token]) -> bool:
    """Whether a number is that of all there are: `two of the three`."""
    before = [token.text for token in tokens[max(0, at - 3) : at]]
    if before and before[-1] in ("the", "los", "las", "les", "den", "your", "mes", "vos", "tus", "sus", "my"):
        before.pop()
    return bool(before) and before[-1] in ("of", "von", "de", "des", "sur", "parmi", "entre", "out", "aus") or (bool(before) and before[-1] == "des")


_OVER: Final = re.compile(r"(?:19|20)\d\d$")
_SERVICES: Final = frozenset("gmail outlook google calendar excel word powerpoint markdown pdf python api html csv json utc cet gmt q1 q2 q3 q4 id ok nda crm sms url vpn ceo hr it pr cc tv pst est webp".split())


def _is_name(token: Token, at: int, tokens: Sequence[Token], words: Grammar) -> bool:
    if not token.is_capital or token.text in words.marks or token.text in MONTH or token.text in DAY or token.text in _SERVICES or len(token.text) < 2:
        return False
    if class_of_noun(token.text) or token.text in words.forms:
        return False
    before = tokens[at - 1] if at else None
    if before is None or before.text in (".", "!", "?", ":", "✅", "-", "•", "*", "|", "¡", "¿"):
        return at + 1 < len(tokens) and tokens[at + 1].text == "'s"
    if words.code == "de":
        return before.text in ("an", "mit", "für", "bei", "von", "frau", "herr", "herrn", "und") and not token.text.endswith(
            ("ung", "heit", "keit", "ion", "tät", "schaft", "ungen", "en", "liste", "team")
        )
    return True


def _note_name(names: list[tuple[str, ...]], token: Token, at: int, tokens: Sequence[Token]) -> None:
    name = folded(token.raw.rstrip("'"))
    previous = tokens[at - 1]
    if names and previous.is_capital and names[-1][-1] == folded(previous.raw):
        names[-1] = (*names[-1], name)
    else:
        names.append((name,))
