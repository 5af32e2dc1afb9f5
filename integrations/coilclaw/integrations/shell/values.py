"""What the words of a command can be when it runs.

Variables are followed without running anything: a variable holds one of the values that are assigned
to it anywhere in the script, or nothing where it may not have been assigned yet. What a command prints is
not known.
"""

from __future__ import annotations

import glob
import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from coilclaw.integrations.shell.script import (
    Arithmetic,
    Literal,
    Part,
    Pattern,
    Process,
    Refused,
    Substitution,
    Variable,
    Word,
)

__all__ = ["Field", "Variables"]

_MOST_CHOICES = 256
_NUMERIC = frozenset("?#$!")
_TOO_MANY = "the variables have too many possible values to check; write the command out"
_WILD = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class _Wild:
    """Text in which `*`, `?` and `[…]` stand for names of files."""

    text: str


_UNKNOWN = _Wild("\0")
"""Any text at all. No wildcard of a command can be this one, because a command contains no null byte."""

_SEVERAL = _Wild("\0\0")
"""The same where it is not quoted: any number of words."""

_Piece: TypeAlias = str | _Wild
_Value: TypeAlias = tuple[tuple[_Piece, bool], ...]
"""The pieces of one possible value, and whether each is split into words at its spaces."""


@dataclass(frozen=True)
class Field:
    """One argument as a program would get it. `pattern` is set when the shell replaces it by names of files."""

    text: str
    pattern: str | None = None
    known: bool = True
    several: bool = False
    """Whether it may turn out to be any number of arguments."""

    @property
    def fixed(self) -> bool:
        """Whether this is the very text the program gets."""
        return self.known and self.pattern is None


@dataclass
class Variables:
    """The variables of one script: what can be in them, and which certainly are assigned at this point."""

    given: Mapping[str, str]
    assigned: dict[str, list[tuple[Word | None, bool]]] = field(default_factory=dict)
    certain: set[str] = field(default_factory=set)

    def assign(self, name: str, value: Word | None, *, loop: bool = False) -> None:
        """Note one value of a variable. None is not known before the script runs; a loop takes it word by word."""
        self.assigned.setdefault(name, []).append((value, loop))

    def choices(self, words: Iterable[Word]) -> list[list[Field]]:
        """Every list of arguments that these words can become."""
        each = [self._fields(word) for word in words]
        size = 1
        for options in each:
            size *= len(options)
            if size > _MOST_CHOICES:
                raise Refused(_TOO_MANY)
        return [list(itertools.chain.from_iterable(choice)) for choice in itertools.product(*each)]

    def check_arithmetic(self, part: Arithmetic) -> None:
        """Refuse `$((name))` unless the name holds a number: bash would evaluate a text in it as code."""
        for name in part.names:
            for value, loop in self.assigned.get(name, [(None, False)]):
                if loop or value is None or not _is_number(value):
                    raise Refused(f"${name} is not certainly a number, and arithmetic would evaluate its text")

    def _fields(self, word: Word) -> list[list[Field]]:
        if not word.parts:
            return [[Field("")]]
        return [[_field(pieces) for pieces in _split(value)] for value in self._values(word, ())]

    def _values(self, word: Word, behind: tuple[str, ...]) -> list[_Value]:
        values: list[_Value] = [()]
        for part in word.parts:
            options = self._options(part, behind)
            values = [(*value, *option) for value in values for option in options]
            if len(values) > _MOST_CHOICES:
                raise Refused(_TOO_MANY)
        return values

    def _options(self, part: Part, behind: tuple[str, ...]) -> list[_Value]:
        match part:
            case Literal(text):
                return [((text, False),)]
            case Pattern(text):
                return [((_Wild(text), False),)]
            case Arithmetic():
                return [(("0", False),)]
            case Process():
                return [(("/dev/fd/63", False),)]
            case Substitution(_, quoted):
                return [((_UNKNOWN if quoted else _SEVERAL, False),)]
            case Variable(name, quoted, length):
                return [(("0", False),)] if length or name in _NUMERIC else self._variable(name, quoted, behind)

    def _variable(self, name: str, quoted: bool, behind: tuple[str, ...]) -> list[_Value]:
        if name in self.given and name not in self.assigned:
            return [((self.given[name], not quoted),)]
        if name not in self.assigned:
            raise Refused(f"${name} is not assigned in this command; write the value out")
        unknown: _Value = ((_UNKNOWN if quoted else _SEVERAL, False),)
        if name in behind:
            return [unknown]
        options: list[_Value] = [] if name in self.certain else [(("", not quoted),)]
        for word, loop in self.assigned[name]:
            if word is None:
                options.append(unknown)
                continue
            for value in self._values(word, (*behind, name)):
                for pieces in _split(value) if loop else [[_plain(piece) for piece, _ in value]]:
                    options.append(_reused(pieces, quoted) or (("", not quoted),))
        return list(dict.fromkeys(options))


def _is_number(word: Word) -> bool:
    only = word.parts[0] if len(word.parts) == 1 else None
    return isinstance(only, Arithmetic) or (isinstance(only, Literal) and only.text.isascii() and only.text.isdigit())


def _plain(piece: _Piece) -> _Piece:
    """An assignment does not replace patterns by names of files; the text stays as it is."""
    return piece.text if isinstance(piece, _Wild) and _is_wild(piece) else piece


def _reused(pieces: list[_Piece], quoted: bool) -> _Value:
    # The name of a file may contain spaces, at which an unquoted variable would be taken apart into anything.
    if quoted:
        return tuple((_UNKNOWN if each is _SEVERAL else each, False) for each in pieces)
    return tuple((_SEVERAL if isinstance(each, _Wild) else each, True) for each in pieces)


def _split(value: _Value) -> list[list[_Piece]]:
    fields: list[list[_Piece]] = []
    fresh = True
    for piece, splits in value:
        if not splits or not isinstance(piece, str):
            if fresh:
                fields.append([])
            fields[-1].append(piece)
            fresh = False
            continue
        for token in re.findall(r"[ \t\n]+|[^ \t\n]+", piece):
            if token.isspace():
                fresh = True
                continue
            if fresh:
                fields.append([])
            fields[-1].append(_Wild(token) if _WILD.search(token) else token)
            fresh = False
    return fields


def _is_wild(piece: _Piece) -> bool:
    return isinstance(piece, _Wild) and piece not in (_UNKNOWN, _SEVERAL)


def _field(pieces: list[_Piece]) -> Field:
    several = _SEVERAL in pieces
    known = not several and _UNKNOWN not in pieces
    shown = [each for each in pieces if isinstance(each, str) or _is_wild(each)]
    text = "".join(each if isinstance(each, str) else each.text for each in shown)
    if not any(map(_is_wild, pieces)):
        return Field(text, None, known, several)
    escaped = (glob.escape(each) if isinstance(each, str) else each.text for each in shown)
    return Field(text, "".join(escaped), known, several)
