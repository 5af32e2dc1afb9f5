"""How a value that a caller sent is compared with one that an operator wrote.

Rules only restrict, so in doubt two values are the same: a caller who writes 1 as "1", as 1.0 or
as true, or a letter as another that looks like it, has not sent something else. What is listed
as permitted (`not_one_of`, `not_matches`) is compared exactly, for the same reason.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, Final

__all__ = ["Number", "any_of", "exactly", "number", "plain", "same"]

Number = int | float

_TRUE: Final = frozenset({"true", "t", "yes", "y", "on", "1"})
_FALSE: Final = frozenset({"false", "f", "no", "n", "off", "0"})
_LONGEST_INTEGER: Final = 400
_MOST_REMEMBERED: Final = 40_000
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Mn", "Me", "Cs"})
_LOOKALIKES: Final = dict(
    zip(
        "аеорсухіѕјԛԝһкАВЕЗКМНОРСТУХІЅЈԚԜαορνικυτΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɡɑ\u2044\u2215",
        "aeopcyxisjqwhkABE3KMHOPCTYXISJQWaopvikutABEZHIKMNOPTYXiga//",
        strict=True,
    )
)
"""Cyrillic, Greek and other letters that most fonts draw like a Latin one. Not all there are."""


class _Plain(dict[int, str]):
    """From a code point to its plain form, worked out when it is met."""

    def __missing__(self, code: int) -> str:
        form = ""
        for char in unicodedata.normalize("NFKD", chr(code)):
            if unicodedata.category(char) not in _INVISIBLE:
                form += _LOOKALIKES.get(char, char)
        if len(self) < _MOST_REMEMBERED:
            self[code] = form
        return form


_PLAIN: Final = _Plain()


def plain(text: str) -> str:
    """The text as a reader sees it: compatible forms made one, accents and invisible characters left out.

    Character by character, because normalising a long text with many accents takes quadratic time.
    """
    if text.isascii() and text.isprintable():
        return text.strip()
    return text.translate(_PLAIN).strip()


def number(value: Any) -> Number | None:
    """The number a lenient reader would see in a value, if any."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float):
        return value
    if isinstance(value, str):
        text = plain(value)
        try:
            return int(text) if len(text) <= _LONGEST_INTEGER and not _FRACTION.search(text) else float(text)
        except ValueError:
            return None
    return None


_FRACTION: Final = re.compile(r"[.eEnN]")


def same(wanted: Any, given: Any, *, ignore_case: bool = False) -> bool:
    """Whether a lenient reader would take one for the other."""
    if isinstance(wanted, str):
        if isinstance(given, str):
            return wanted == given or _folded(wanted, ignore_case) == _folded(given, ignore_case)
        if isinstance(given, bool):
            return plain(wanted).casefold() in (_TRUE if given else _FALSE)
        return _equal(number(wanted), number(given))
    if isinstance(wanted, bool):
        if isinstance(given, str) and plain(given).casefold() in (_TRUE if wanted else _FALSE):
            return True
        return _equal(int(wanted), number(given))
    if isinstance(wanted, int | float):
        return _equal(wanted, number(given))
    return bool(wanted == given)


def any_of(wanted: Sequence[Any], *, ignore_case: bool = False) -> Callable[[Any], bool]:
    """`same` for any of several values, with what can be known of them worked out beforehand."""
    texts = [each for each in wanted if isinstance(each, str)]
    others = [each for each in wanted if not isinstance(each, str)]
    written, read = frozenset(texts), frozenset(_folded(text, ignore_case) for text in texts)

    def is_one(given: Any) -> bool:
        if not isinstance(given, str):
            return any(same(each, given, ignore_case=ignore_case) for each in wanted)
        if given in written or _folded(given, ignore_case) in read:
            return True
        return any(same(each, given, ignore_case=ignore_case) for each in others)

    return is_one


def exactly(wanted: Any, given: Any, *, ignore_case: bool = False) -> bool:
    """Whether both are the same value of the same type."""
    if isinstance(wanted, str) and isinstance(given, str):
        return wanted == given or (ignore_case and wanted.casefold() == given.casefold())
    if isinstance(wanted, bool) or isinstance(given, bool):
        return wanted is given
    both_numbers = isinstance(wanted, int | float) and isinstance(given, int | float)
    return (both_numbers or type(wanted) is type(given)) and bool(wanted == given)


def _folded(text: str, ignore_case: bool) -> str:
    read = plain(text)
    return read.casefold() if ignore_case else read


def _equal(wanted: Number | None, given: Number | None) -> bool:
    return wanted is not None and given is not None and wanted == given
