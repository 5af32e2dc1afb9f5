"""The text of an iCalendar file: its lines, its components, and where each stands.

Components keep their place in the file, so that one can be added or taken out while all the rest,
whatever program wrote it, stays as it is. What is read is bounded before it is understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from coilclaw.integrations.calendar.storage import MOST_BYTES
from coilclaw.sdk import ToolFailure

__all__ = ["Component", "Document", "Property", "escaped", "folded", "unescaped"]

_MOST_COMPONENTS = 20_000
_DEEPEST = 8
_LONGEST_VALUE = 65_536
_WIDEST = 75

_HEAD = re.compile(r"([A-Za-z0-9-]+)[;:]")
_NAME = re.compile(r"[A-Za-z0-9-]+")
_PARAMETER = re.compile(r';([A-Za-z0-9-]+)=("[^"]*"|[^";:,]*)((?:,(?:"[^"]*"|[^";:,]*))*)')
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True)
class Property:
    """One content line: `NAME;PARAMETER=VALUE:value`."""

    name: str
    parameters: dict[str, str]
    value: str


@dataclass
class Component:
    """A BEGIN, its END and what stands between them: lines from `first` up to, without, `last`."""

    name: str
    first: int
    last: int = 0
    closing: int = 0
    """The line of the END."""
    children: list[Component] = field(default_factory=list)
    _document: Document | None = field(default=None, repr=False)
    _lines: list[tuple[str, int, int]] = field(default_factory=list, repr=False)

    def properties(self, *names: str) -> Iterator[Property]:
        """The properties with these names, in the order of the file. One that is too long raises ValueError."""
        assert self._document is not None
        for name, first, last in self._lines:
            if name in names:
                yield _parsed(self._document.unfolded(first, last, _LONGEST_VALUE))

    def first_of(self, name: str) -> Property | None:
        return next(self.properties(name), None)

    def has(self, name: str) -> bool:
        return any(each == name for each, _, _ in self._lines)

    def text(self, name: str) -> str:
        """The first property with this name as a person wrote it; nothing where it cannot be read."""
        try:
            given = self.first_of(name)
        except ValueError:
            return ""
        return unescaped(given.value).strip() if given else ""


class Document:
    """A file, as physical lines and a tree of components. A file that is not a calendar is a `ToolFailure`."""

    def __init__(self, data: bytes, shown: str) -> None:
        self.shown = shown
        if len(data) > MOST_BYTES:
            raise self.failure(f"has more than {MOST_BYTES} bytes", code="too_large")
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            raise self.failure("is not UTF-8 text") from None
        if "\0" in text:
            raise self.failure("contains null bytes")
        # Only line feeds end lines; str.splitlines would also split at characters that a title may contain.
        self.lines = [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]
        self.calendars: list[Component] = []
        self._read()

    def failure(self, what: str, *, code: str = "not_a_calendar", line: int | None = None) -> ToolFailure:
        where = "" if line is None else f" (line {line + 1})"
        return ToolFailure(f"{self.shown!r} {what}{where}", code=code, hint="a person repairs or moves the file")

    def components(self, name: str) -> Iterator[Component]:
        """The components with this name that stand directly in a calendar."""
        for calendar in self.calendars:
            for component in calendar.children:
                if component.name == name:
                    yield component

    def unfolded(self, first: int, last: int, most: int) -> str:
        """The logical line that these physical lines make up."""
        parts = [self.lines[first], *(line[1:] for line in self.lines[first + 1 : last])]
        if sum(map(len, parts)) > most:
            raise ValueError(f"a value is longer than {most} characters")
        return "".join(parts)

    def encoded(self) -> bytes:
        """The file again, every line ended as the standard wants it."""
        lines = self.lines[:-1] if self.lines[-1] == "" else self.lines
        return "".join(line + "\r\n" for line in lines).encode()

    def _read(self) -> None:
        """One pass over the lines. Line numbers of components count physical lines."""
        open_components: list[Component] = []
        number, count, end = 0, 0, len(self.lines)
        while number < end:
            first, number = number, number + 1
            while number < end and self.lines[number][:1] in (" ", "\t"):
                number += 1
            if not self.lines[first].strip():
                continue
            name = self._name(first, number)
            if name == "BEGIN":
                count += 1
                if count > _MOST_COMPONENTS or len(open_components) >= _DEEPEST:
                    raise self.failure("has too many or too deeply nested components", code="too_large", line=first)
                self._begin(open_components, first, number)
            elif name == "END":
                self._end(open_components, first, number)
            elif not open_components:
                raise self.failure("is not an iCalendar file", line=first)
            else:
                open_components[-1]._lines.append((name, first, number))
        if open_components:
            raise self.failure(f"ends inside a {open_components[-1].name}")

    def _name(self, first: int, last: int) -> str:
        if found := _HEAD.match(self.lines[first]):
            return found[1].upper()
        found = _HEAD.match("".join([self.lines[first], *(line[1:] for line in self.lines[first + 1 : last][:80])]))
        return found[1].upper() if found else ""  # A line that is none is kept and not looked at.

    def _begin(self, open_components: list[Component], first: int, last: int) -> None:
        component = Component(self._marked(first, last), first, _document=self)
        if open_components:
            open_components[-1].children.append(component)
        elif component.name == "VCALENDAR":
            self.calendars.append(component)
        else:
            raise self.failure("is not an iCalendar file", line=first)
        open_components.append(component)

    def _end(self, open_components: list[Component], first: int, last: int) -> None:
        if not open_components or open_components[-1].name != self._marked(first, last):
            raise self.failure("has an END without its BEGIN", line=first)
        component = open_components.pop()
        component.closing, component.last = first, last

    def _marked(self, first: int, last: int) -> str:
        try:
            return self.unfolded(first, last, 200).partition(":")[2].strip().upper()
        except ValueError:
            raise self.failure("has a BEGIN or END that is too long", line=first) from None


def _parsed(line: str) -> Property:
    name = _NAME.match(line)
    if name is None:
        raise ValueError("a line has no name")
    at = name.end()
    parameters: dict[str, str] = {}
    while found := _PARAMETER.match(line, at):
        parameters.setdefault(found[1].upper(), found[2].strip('"'))
        at = found.end()
    if line[at : at + 1] != ":":
        raise ValueError(f"{name[0].upper()} has no value")
    return Property(name[0].upper(), parameters, line[at + 1 :])


def unescaped(text: str) -> str:
    """A TEXT value as a person wrote it."""
    return _ESCAPE.sub(lambda found: "\n" if found[1] in "nN" else found[1], text)


def escaped(text: str) -> str:
    """A person's text as a TEXT value: it cannot end its line."""
    for plain, written in (("\\", "\\\\"), (";", "\\;"), (",", "\\,"), ("\n", "\\n")):
        text = text.replace(plain, written)
    return text


def folded(line: str) -> list[str]:
    """The physical lines of one logical line: none longer than 75 octets, no character cut in two."""
    lines, current, width = [], "", 0
    for character in line:
        size = len(character.encode())
        if width + size > _WIDEST:
            lines.append(current)
            current, width = " ", 1
        current += character
        width += size
    return [*lines, current]
