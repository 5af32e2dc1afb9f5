"""The text of an iCalendar file: which components stand in it, and where.

Events are understood by `icalendar`, but a file is never written back through it: what other programs put there
stays as it is, line by line (icalendar 7.3 would turn a `\\\\N` in their texts into a line break).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from coilclaw.sdk import ToolFailure

__all__ = ["Component", "Document"]

_EMPTY = (
    b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//CoilClaw//calendar//EN\r\nCALSCALE:GREGORIAN\r\nEND:VCALENDAR\r\n"
)

_MOST_COMPONENTS = 20_000
_DEEPEST = 8


@dataclass
class Component:
    """A component directly inside a calendar: lines from `first` up to, without, `last`."""

    name: str
    first: int
    last: int = 0
    _own: list[list[str]] = field(default_factory=list, repr=False)

    def lines(self) -> Iterator[tuple[str, str]]:
        """Name and unfolded text of its own lines, without those of components inside it."""
        for parts in self._own:
            text = "".join(parts)
            yield text.partition(":")[0].partition(";")[0].upper(), text

    def value(self, name: str) -> str:
        """The first text with this name as a person wrote it, or nothing."""
        from icalendar.parser import Contentline

        found = next((text for each, text in self.lines() if each == name), "")
        try:
            return str(Contentline(found).parts()[2]).strip()  # type: ignore[no-untyped-call]
        except ValueError:
            return ""


class Document:
    """A file as lines and components. A file that is not a calendar is a `ToolFailure`."""

    def __init__(self, data: bytes, shown: str) -> None:
        self._shown = shown
        try:
            text = ((data.strip() and data) or _EMPTY).decode("utf-8").removeprefix("\ufeff")
        except UnicodeDecodeError:
            raise self._failure("is not UTF-8 text") from None
        if "\0" in text:
            raise self._failure("contains null bytes")
        # Only line feeds end lines; str.splitlines would also split at characters that a title may contain.
        self._lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
        self._components: list[Component] = []
        self._closing = 0
        self._read()

    def components(self, name: str) -> list[Component]:
        return [each for each in self._components if each.name == name]

    def text(self, component: Component) -> list[str]:
        """Its lines with all that is inside it, unfolded."""
        whole = "\n".join(self._lines[component.first : component.last])
        return whole.replace("\n ", "").replace("\n\t", "").split("\n")

    def with_components(self, zone: bytes, event: bytes) -> bytes:
        """The file with a zone (perhaps none) before everything else and an event at the end of its first calendar."""
        place = min((each.first for each in self._components), default=self._closing)
        before, between, after = self._lines[:place], self._lines[place : self._closing], self._lines[self._closing :]
        return _encoded(before) + zone + _encoded(between) + event + _encoded(after)

    def without(self, components: list[Component]) -> bytes:
        gone = {number for each in components for number in range(each.first, each.last)}
        return _encoded([line for number, line in enumerate(self._lines) if number not in gone])

    def _read(self) -> None:
        open_names: list[str] = []
        count = 0
        for number, line in enumerate(self._lines):
            if not line.strip():
                continue
            keyword, _, name = line[:200].upper().partition(":")
            if keyword == "BEGIN":
                count += 1
                if count > _MOST_COMPONENTS or len(open_names) >= _DEEPEST:
                    raise self._failure("has too many or too deeply nested components", "too_large")
                if not open_names and name.strip() != "VCALENDAR":
                    raise self._failure("is not an iCalendar file")
                open_names.append(name.strip())
                if len(open_names) == 2:
                    self._components.append(Component(name.strip(), number))
            elif keyword == "END":
                if not open_names or open_names.pop() != name.strip():
                    raise self._failure(f"has an END without its BEGIN (line {number + 1})")
                if len(open_names) == 1:
                    self._components[-1].last = number + 1
                elif not open_names:
                    self._closing = self._closing or number
            elif not open_names:
                raise self._failure("is not an iCalendar file")
            elif len(open_names) == 2:
                own = self._components[-1]._own
                if line[0] not in " \t":
                    own.append([line])
                elif own:
                    own[-1].append(line[1:])
        if open_names or not self._closing:
            raise self._failure("is cut off or empty")

    def _failure(self, what: str, code: str = "not_a_calendar") -> ToolFailure:
        return ToolFailure(f"{self._shown!r} {what}", code=code, hint="a person repairs or moves the file")


def _encoded(lines: list[str]) -> bytes:
    return "".join(line + "\r\n" for line in lines).encode()
