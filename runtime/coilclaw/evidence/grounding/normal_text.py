"""Text brought into one form before it is read, so that no spelling of a word hides it.

Entities are decoded, full-width and styled letters become plain, letters of other scripts that look like Latin ones
become those, and whatever nobody sees is dropped, markup inside words included.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

__all__ = ["folded", "has_chinese", "normal"]

_LOOK_ALIKES: Final = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеоѕсрухіјԁһԛԝӏвнтмкгпΑΒΕΖΗΙΚΜΝΟΡΤΥΧαιονυρκτɑɡıʟᴀʙᴄᴅᴇꜰɢʜɪᴊᴋᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ‘’ʼ′´‐‑‒−",
    "ABESIJKMHOPCTYXaeoscpyxijdhqwlbhtmkrnABEZHIKMNOPTYXaiovuрktagilabcdefghijkmnoprstuvwyz".replace("р", "p")
    + "'''''----",
)
_PLAIN: Final = re.compile(r"[\x20-\x25\x27-\x29\x2b-\x3b=?-Z\\a-}]*")  # Nothing that is decoded or dropped.
_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,24});")
_TAG: Final = re.compile(r"</?[A-Za-z][^<>\n]{0,200}>|<!--(?:[^-]|-(?!->)){0,500}-->")
_EMPHASIS: Final = re.compile(
    r"\*{1,3}|~~(?=\w)|(?<=\w)~~|(?<![\w/.])_{1,3}(?=\w)|(?<=[\w.!?])_{1,3}(?![\w/.])|(?<=[^\W\d_])__(?=[^\W\d_])"
)
_SPACED: Final = re.compile(r"(?<![^\W_])[^\W\d_](?: [^\W\d_]){2,}(?![^\W_])")
_SPACED_HAN: Final = re.compile(r"(?<=[\u3400-\u9fff])[ \t]+(?=[\u3400-\u9fff])")
_INSIDE_WORD: Final = re.compile(r"(?<=[^\W\d_])`(?=[^\W\d_])")


def normal(text: str) -> str:
    """The text as a reader sees it: same words, one spelling, no markup for emphasis."""
    if not _PLAIN.fullmatch(text):
        text = _decoded_text(text)
    return _SPACED.sub(lambda match: match.group().replace(" ", ""), text)


def _decoded_text(text: str) -> str:
    for _ in range(2):  # An entity may spell an ampersand.
        if "&" not in text:
            break
        text = _ENTITY.sub(_decoded, text)
    text = _TAG.sub("", text)
    text = unicodedata.normalize("NFKC", text)
    if not text.isascii():
        text = "".join(each for each in text if not _is_unseen(each))
        text = _SPACED_HAN.sub("", text.translate(_LOOK_ALIKES))
    return _INSIDE_WORD.sub("", _EMPHASIS.sub("", text))


def _decoded(match: re.Match[str]) -> str:
    from html import unescape  # Few answers need it.

    return unescape(match.group())


def _is_unseen(char: str) -> bool:
    code = ord(char)
    if code < 0xAD:
        return code < 0x20 and char not in "\n\t"
    return (
        unicodedata.category(char) == "Cf"
        or 0xFE00 <= code <= 0xFE0F
        or 0x0300 <= code <= 0x036F  # After composition: marks that belong to no letter of our languages.
        or code in (0x034F, 0x115F, 0x1160, 0x2800, 0x3164, 0xFFA0)
    )


def has_chinese(text: str) -> bool:
    return not text.isascii() and any("\u3400" <= char <= "\u9fff" for char in text)


def folded(word: str) -> str:
    """A word without case and accents, to compare names by."""
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFD", word.casefold())
    return "".join(each for each in plain if not unicodedata.combining(each))
