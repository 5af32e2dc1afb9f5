"""The words, numbers and names of one sentence."""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple, TypeAlias

from coilclaw.evidence.grounding.grammar import sense_of

__all__ = ["Token", "tokens_of"]

Kind: TypeAlias = Literal["word", "number", "place", "quote", "mark", "han"]

_TOKEN: Final = re.compile(
    r"""
    (?P<quote>"[^"\n]{1,4000}"|“[^”\n]{1,4000}”|„[^“”"\n]{1,4000}[“”"]
        |«[^»\n]{1,4000}»|»[^«\n]{1,4000}«|「[^」\n]{1,4000}」|『[^』\n]{1,4000}』
        |‹[^›\n]{1,4000}›|(?<![\w])'[^'\n]{2,200}'(?![\w]))
  | (?P<place>`[^`\n]{1,400}`|\[(?:receipt|call|run|req)[-_:][\w:.-]{1,80}\]
        |https?://[^\s<>()\[\]"，。]{1,500}|[\w.+-]{1,80}@[\w-]{1,80}(?:\.[\w-]{1,40}){1,6}|[\#@][\w-]{1,80}
        |(?:~|\.{1,2})?/[\w.@%+-]{1,120}(?:/[\w.@%+-]{0,120}){0,20}|[A-Za-z]:\\[\w.\\ -]{1,200}
        |[A-Za-z_][\w-]{0,80}/[\w./-]{1,120}|[^\W\d][\w-]{0,100}\.[a-z][a-z0-9]{0,4}(?:\.[a-z0-9]{1,4})?(?![\w])
        |[A-Za-z]{1,9}-?\d[\w.-]{0,40}(?<![.-])|\d{1,10}-[A-Za-z0-9][\w-]{0,40}
        |\d{1,10}[A-Z][A-Z0-9]{2,40}(?![\w]))
  | (?P<number>[€$£¥]?\s?\d{1,20}(?:[.,'\u202f ](?=\d{3}(?!\d))\d{3}){0,6}
        (?:[.,:]\d{1,6}){0,2}(?:st|nd|rd|th|º|ª|er|ème|e)?(?![\w]|\.\d)
        |\d{1,20}(?:[.,:]\d{1,6}){0,3})
  | (?P<word>[^\W\d_]+(?:[-'](?=[^\W\d_])[^\W\d_]+)*'?)
  | (?P<mark>[^\s\w])
    """,
    re.VERBOSE,
)
_DISGUISED: Final = re.compile(r"[^\W\d_]{1,20}[0134578][^\W\d_][^\W_]{0,20}")
_DIGITS: Final = str.maketrans("0134578", "oieastb")
_APOSTROPHE: Final = re.compile(r"^([jlnmtsdc]|qu|jusqu|lorsqu|puisqu|quelqu|presqu)'(?=.)", re.IGNORECASE)
_TAIL: Final = {"ve": "have", "m": "am", "ll": "will", "d": "would", "re": "are", "s": "'s"}


class Token(NamedTuple):
    kind: Kind
    text: str
    """In lower case, except for quotations and places."""
    raw: str
    start: int
    end: int

    @property
    def is_capital(self) -> bool:
        return self.kind == "word" and self.raw[:1].isupper()


def tokens_of(text: str) -> list[Token]:
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        kind: Kind = match.lastgroup  # type: ignore[assignment]
        raw, start = match.group(), match.start()
        if kind == "word":
            found += _words(raw, start)
        elif kind == "place" and raw.startswith("`") and re.fullmatch(r"`[a-zà-ÿ]+(?: [a-zà-ÿ]+)?`", raw):
            found += [
                Token("word", each.group(), each.group(), start + each.start(), start + each.end())
                for each in re.finditer(r"[^\s`]+", raw)
            ]
        elif kind == "place" and _DISGUISED.fullmatch(raw) and sense_of(plain := raw.lower().translate(_DIGITS)):
            found.append(Token("word", plain, raw, start, match.end()))
        else:
            found.append(Token(kind, raw, raw.strip(), start, match.end()))
    return found


def _words(raw: str, start: int) -> list[Token]:
    """One token for each word of what an apostrophe joins: `couldn't`, `I've`, `j'ai`."""
    if raw[:1] == "I" and len(raw) > 4 and (form := sense_of(raw[1:].lower(), "en")) and form.kind == "past":
        return [*_words("I", start), *_words(raw[1:], start + 1)]  # `ISENT`, with blanks that nobody sees.
    if "'" not in raw:
        return [Token("word", raw.lower(), raw, start, start + len(raw))]
    if elided := _APOSTROPHE.match(raw):
        cut = elided.end()
        return [Token("word", raw[:cut].lower(), raw[:cut], start, start + cut), *_words(raw[cut:], start + cut)]
    head, _, tail = raw.partition("'")
    if not tail:
        return [Token("word", head.lower(), head, start, start + len(head))]
    lower = tail.lower()
    if lower == "d" and head.lower() in ("cc", "bcc", "dm", "ok"):
        return [Token("word", f"{head.lower()}ed", raw, start, start + len(raw))]
    if lower == "t" and head.lower().endswith("n"):
        base = {"ca": "can", "wo": "will", "sha": "shall"}.get(head.lower()[:-1], head.lower()[:-1])
        return [
            Token("word", base, head, start, start + len(head)),
            Token("word", "not", tail, start, start + len(raw)),
        ]
    first = Token("word", head.lower(), head, start, start + len(head))
    return [first, Token("word", _TAIL.get(lower, lower), tail, start + len(head) + 1, start + len(raw))]
