"""Numbers, dates, days and times in a text, in any of our languages."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

__all__ = [
    "DAY",
    "ISO",
    "MONTH",
    "dates_in",
    "days_in_chinese",
    "months_in",
    "number_of",
    "numbers_in",
    "spelled",
    "times_in",
    "years_in",
]

_MONTHS: Final = """
january januar enero janvier jan jänner ene, february februar febrero février feb fév fevrier,
march märz marzo mars mar mär,
april abril avril apr abr, may mai mayo, june juni junio juin jun, july juli julio juillet jul,
august agosto août aug ago aout, september septiembre septembre sep sept, october oktober octubre octobre oct okt,
november noviembre novembre nov, december dezember diciembre décembre dec dez dic déc
"""
_DAYS: Final = """
monday montag lunes lundi mon, tuesday dienstag martes mardi tue, wednesday mittwoch miércoles mercredi wed,
thursday donnerstag jueves jeudi thu, friday freitag viernes vendredi fri,
saturday samstag sonnabend sábado samedi sat, sunday sonntag domingo dimanche sun
"""
MONTH: Final = {word: at + 1 for at, names in enumerate(_MONTHS.split(",")) for word in names.split()}
DAY: Final = {word: at for at, names in enumerate(_DAYS.split(",")) for word in names.split()}
ISO: Final = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_DOTTED: Final = re.compile(
    r"(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.(?:(\d{4}|\d{2})(?!\d))?|(?<![\d/])(\d{1,2})/(\d{1,2})(?:/(\d{4}))?(?![\d/])"
    r"|(?<!\d)(\d{1,2})\s*月\s*(\d{1,2})\s*[日号]"
)
_TIME: Final = re.compile(
    r"(?<![\d:.])([01]?\d|2[0-4])(?:[:.]| ?h ?)([0-5]\d)(?!\d|\.\d)\s*(am|pm|a\.m|p\.m|AM|PM)?"
    r"|(?<![\d:.,])(\d{1,2})\s*(am|pm|a\.m|p\.m|AM|PM|Uhr|uhr|h\b|heures?|点|時|时)"
)
_NUMBER: Final = re.compile(r"\d[\d.,' \u202f]*\d|\d")
_SHORT_DATE: Final = re.compile(r"(?<![\d-])(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?![\d-])")
_HAN_DAY: Final = re.compile(r"(?:周|星期|礼拜)([一二三四五六日天])")
_HAN_TIME: Final = re.compile(
    r"(早上|上午|下午|晚上|中午|凌晨)?([零一二两三四五六七八九十\d]{1,3})点(半|[一二三四五六七八九十]{1,3}分|\d{1,2}分)?"
)


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
        digits = (
            "".join(parts) if len(parts) > 2 or (len(parts[-1]) == 3 and parts[0] not in ("0", "")) else ".".join(parts)
        )
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
    found = {(int(month), int(day)) for _, month, day in ISO.findall(text)}
    for match in _DOTTED.finditer(text):
        first, second = (
            (match.group(1) or match.group(4) or match.group(8)),
            (match.group(2) or match.group(5) or match.group(7)),
        )
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
            near = next(
                (each for each in (at - 1, at - 2, at + 1) if 0 <= each < len(words) and words[each].isdigit()), None
            )
            if near is not None:
                found.add((MONTH[word], int(words[near])))
        elif word == "may" and at and (words[at - 1].isdigit() or (at + 1 < len(words) and words[at + 1].isdigit())):
            for near in (at - 1, at + 1):
                if near < len(words) and words[near].isdigit():
                    found.add((5, int(words[near])))
    return found


def days_in_chinese(text: str) -> set[int]:
    return (
        set()
        if text.isascii()
        else {"一二三四五六日天".index(day) % 7 if day != "天" else 6 for day in _HAN_DAY.findall(text)}
    )


def months_in(text: str) -> set[int]:
    """Months that are named without a day, other than those whose names are other words too."""
    return {
        MONTH[word] for word in re.findall(r"[^\W\d_]{3,}", text.lower()) if word in MONTH and word not in _OTHER_WORDS
    }


_OTHER_WORDS: Final = frozenset(("may", "mar", "march", "ago", "ene", "dec", "dic", "jan", "sep", "oct", "abr", "nov"))


def years_in(text: str) -> list[date]:
    found = []
    for year, month, day in ISO.findall(text):
        try:
            found.append(date(int(year), int(month), int(day)))
        except ValueError:
            continue
    return found


def times_in(text: str) -> set[tuple[int, int]]:
    found: set[tuple[int, int]] = set()
    if re.search(
        r"y media|et demie|halb |half past|quarter|y cuarto|menos cuarto|et quart|viertel", text, re.IGNORECASE
    ):
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
