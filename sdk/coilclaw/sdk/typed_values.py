"""Values of Python's own types that JSON writes as text: how they are written, and how an answer gets them back.

The host says in a plan where an answer holds such values (`value_plan`); only there is text read as one. This file
imports the standard library only, because it is also built into the sandbox guest.
"""

from __future__ import annotations

import base64
import datetime
import decimal
import json
import re
import uuid
from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias

__all__ = ["Record", "bytes_text", "duration_text", "moment_text", "plan_reader", "with_bytes_as_text", "with_literals"]

_Reader: TypeAlias = Callable[[Any], Any]
_UNREADABLE = (ValueError, TypeError, AttributeError, ArithmeticError)
_BYTES_PREFIX = "data:;base64,"
"""Before bytes that are no text, or begin like this, where a schema takes bytes for text."""
_MOST_KEYS = 20
_MOST_PLANS = 500


class Record(dict[str, Any]):
    """An object of a tool's answer. Its fields are attributes too, except those that a method of `dict` hides."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name in self and not name.startswith("_"):
            return self[name]
        raise AttributeError(f"this record has no field {name!r}{_fields_of(self)}", name=name, obj=None)

    def __missing__(self, key: object) -> NoReturn:
        raise KeyError(f"{_shown(key)} is not a field of this record{_fields_of(self)}")


def _fields_of(record: Record) -> str:
    names = [_shown(name) for name in list(record)[:_MOST_KEYS]]
    if not names:
        return "; it has none"
    more = f", … {len(record) - _MOST_KEYS} more" if len(record) > _MOST_KEYS else ""
    return f"; it has: {', '.join(names)}{more}"


def _shown(key: object) -> str:
    text = repr(key) if type(key) is str or type(key) is int else f"a {type(key).__name__}"
    return text if len(text) <= 80 else f"{text[:80]}…"


def with_bytes_as_text(value: Any) -> Any:
    """The same value with text for all bytes in it (`bytes_text`)."""
    if isinstance(value, dict):
        return {with_bytes_as_text(key): with_bytes_as_text(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [with_bytes_as_text(each) for each in value]
    return bytes_text(value) if isinstance(value, bytes | bytearray) else value


def bytes_text(value: bytes | bytearray) -> str:
    """Text for bytes, from which `binary` makes them again."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        text = _BYTES_PREFIX
    return _BYTES_PREFIX + base64.b64encode(value).decode() if text.startswith(_BYTES_PREFIX) else text


# Writing -------------------------------------------------------------------------------------------


def with_literals(value: Any, data_of: Callable[[Any], Any]) -> Any:
    """The same argument, in which a dict that looks like a marked value is marked as what it is.

    `data_of` gives JSON data for other objects, and the object itself for one that the encoder marks.
    """
    if isinstance(value, dict):
        made = {name: with_literals(each, data_of) for name, each in value.items()}
        return {"": ["literal", made[""]]} if len(made) == 1 and "" in made else made
    if isinstance(value, list | tuple):
        return [with_literals(each, data_of) for each in value]
    if value is None or isinstance(value, str | int | float):
        return value
    data = data_of(value)
    return value if data is value else with_literals(data, data_of)


def moment_text(value: datetime.date | datetime.time) -> str:
    """A date, a time or both, as pydantic writes them."""
    text = value.isoformat()
    return f"{text[:-6]}Z" if text.endswith("+00:00") else text


def duration_text(value: datetime.timedelta) -> str:
    """A duration in the form of ISO 8601, as pydantic writes it: a year has 365 days."""
    sign, span = ("-", -value) if value.days < 0 else ("", value)
    (years, days), (hours, rest) = divmod(span.days, 365), divmod(span.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    exact = f"{seconds}.{span.microseconds:06}".rstrip("0") if span.microseconds else seconds
    date = f"{years}Y" * bool(years) + f"{days}D" * bool(days)
    clock = f"{hours}H" * bool(hours) + f"{minutes}M" * bool(minutes) + f"{exact}S" * bool(exact)
    return f"{sign}P{date}{f'T{clock}' if clock else ''}" if date or clock else "PT0S"


# Reading -------------------------------------------------------------------------------------------

_DURATION = re.compile(
    r"(?:\+|(-))?P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?"
    r"(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:[.,](\d{1,6})\d*)?S)?)?"
)


def _duration(text: str) -> datetime.timedelta:
    found = _DURATION.fullmatch(text)
    if found is None or len(text) > 100:
        raise ValueError("no duration")
    sign, years, months, weeks, days, hours, minutes, seconds, fraction = found.groups()
    span = datetime.timedelta(
        int(days) if days else 0,
        (int(hours) * 3600 if hours else 0) + (int(minutes) * 60 if minutes else 0) + (int(seconds) if seconds else 0),
        int(fraction.ljust(6, "0")) if fraction else 0,
    )
    if years or months or weeks:  # As pydantic counts: a year has 365 days and a month has 30.
        span += datetime.timedelta(int(years or 0) * 365 + int(months or 0) * 30 + int(weeks or 0) * 7)
    return -span if sign else span


def _date_or_moment(text: str) -> datetime.date:
    return datetime.date.fromisoformat(text) if len(text) == 10 else datetime.datetime.fromisoformat(text)


_new_uuid = object.__new__
_set_int, _set_is_safe = (vars(uuid.UUID)[name].__set__ for name in ("int", "is_safe"))


def _uuid(text: str) -> uuid.UUID:
    digits = text.replace("-", "")
    if len(digits) != 32:
        return uuid.UUID(text)
    made = _new_uuid(uuid.UUID)  # What its own `__init__` does with such a text, in half the time.
    _set_int(made, int(digits, 16))
    _set_is_safe(made, uuid.SafeUUID.unknown)
    return made


# Readers take text and nothing else: another value is what the tool gave, or was read already.


def _decimal(text: str) -> decimal.Decimal:
    return decimal.Decimal(_text(text))


def _hex(text: str) -> bytes:
    return bytes.fromhex(_text(text))


def _base64(text: str) -> bytes:
    return base64.b64decode(text.encode(), validate=True)


def _text(value: str) -> str:
    if type(value) is not str:
        raise TypeError("no text")
    return value


def _binary(text: str) -> bytes:
    if text.startswith(_BYTES_PREFIX):
        return base64.b64decode(text[len(_BYTES_PREFIX) :], validate=True)
    return text.encode()


def _base64url(text: str) -> bytes:
    return base64.b64decode(text.encode() + b"=" * (-len(text) % 4), b"-_", validate=True)


_READERS: dict[str, _Reader] = {
    "date-time": datetime.datetime.fromisoformat,
    "date": datetime.date.fromisoformat,
    "date or date-time": _date_or_moment,
    "time": datetime.time.fromisoformat,
    "duration": _duration,
    "decimal": _decimal,
    "uuid": _uuid,
    "binary": _binary,
    "base64": _base64,
    "base64url": _base64url,
    "hex": _hex,
}


class _Plan:
    """Makes the readers of one plan: `[plan, definition, …]`, where a plan is one of

    a format, `["[]", items]`, `["()", [place, …]]`, `["{}", {field: plan}, others]`, `["|", plan, …]`,
    `["?", field, {value: plan}]` and `["@", number of a definition]`; nothing stands for nothing to do.
    """

    def __init__(self, definitions: list[Any]) -> None:
        self._definitions = definitions
        self._made: dict[int, _Reader | None] = {}
        self._fields: dict[_Reader, tuple[tuple[str, _Reader], ...]] = {}

    def reader(self, plan: Any) -> _Reader:
        """A function that gives a value with its typed parts in place; lists and records are changed themselves."""
        if plan is None:
            return _as_it_is
        if type(plan) is str:
            return _leaf(_READERS[plan])
        kind, *rest = plan
        match kind:
            case "[]":
                return self._items(rest[0])
            case "()":
                return _places([self.reader(each) for each in rest[0]])
            case "{}":
                return self._record(*rest)
            case "|":
                return _each([self.reader(each) for each in rest])
            case "?":
                return _chosen(rest[0], {value: self.reader(each) for value, each in rest[1].items()})
        return self._definition(rest[0])

    def _items(self, plan: Any) -> _Reader:
        read_item = self.reader(plan)
        fields = self._fields.get(read_item)
        return _items(read_item) if fields is None else _records(fields)

    def _record(self, fields: dict[str, Any], others: Any) -> _Reader:
        pairs = self._pairs(fields)
        read = _record(pairs, None if others is None else self.reader(others))
        if others is None:
            self._fields[read] = pairs
        return read

    def _pairs(self, fields: dict[str, Any]) -> tuple[tuple[str, _Reader], ...]:
        return tuple(
            (name, _READERS[each] if type(each) is str else self.reader(each)) for name, each in fields.items()
        )

    def _definition(self, number: int) -> _Reader:
        if number not in self._made:
            self._made[number] = None  # Its reader may be needed inside of it.
            self._made[number] = self.reader(self._definitions[number])
        made = self._made[number]
        return made if made is not None else lambda value: (self._made[number] or _as_it_is)(value)


def _as_it_is(value: Any) -> Any:
    return value


def _leaf(make: _Reader) -> _Reader:
    def read(value: Any) -> Any:
        try:
            return make(value)
        except _UNREADABLE:
            return value

    return read


def _record(pairs: tuple[tuple[str, _Reader], ...], others: _Reader | None) -> _Reader:
    named = {name for name, _ in pairs}

    def read(value: Any) -> Any:
        if type(value) is Record:
            for name, make in pairs:
                _read_field(value, name, make)
            if others is not None:
                for name in value:
                    if name not in named:
                        value[name] = others(value[name])
        return value

    return read


def _read_field(record: Any, name: str, make: _Reader) -> None:
    found = record.get(name) if type(record) is Record else None
    if found is not None:
        try:
            record[name] = make(found)
        except _UNREADABLE:
            return


def _records(pairs: tuple[tuple[str, _Reader], ...]) -> _Reader:
    """A list of records, field by field: nearly always each record has each field, and it can be read."""

    def read(value: Any) -> Any:
        if type(value) is list:
            for name, make in pairs:
                try:
                    for record in value:
                        record[name] = make(record[name])
                except (*_UNREADABLE, KeyError):
                    for record in value:
                        _read_field(record, name, make)  # What was read already is no text, and stays as it is.
        return value

    return read


def _items(read_item: _Reader) -> _Reader:
    def read(value: Any) -> Any:
        if type(value) is list:
            value[:] = map(read_item, value)
        return value

    return read


def _places(readers: list[_Reader]) -> _Reader:
    def read(value: Any) -> Any:
        if type(value) is list:
            return tuple([make(item) for make, item in zip(readers, value, strict=False)] + value[len(readers) :])
        return value

    return read


def _each(readers: list[_Reader]) -> _Reader:
    def read(value: Any) -> Any:
        for make in readers:
            value = make(value)
        return value

    return read


def _chosen(field: str, readers: dict[str, _Reader]) -> _Reader:
    def read(value: Any) -> Any:
        if type(value) is Record:
            kind = value.get(field)
            return readers.get(kind, _as_it_is)(value) if type(kind) is str else value
        return value

    return read


_plans: dict[str, _Reader] = {}


def plan_reader(text: str) -> _Reader:
    """The reader of a plan, made once for all answers that have the same plan."""
    found = _plans.get(text)
    if found is None:
        plan, *definitions = json.loads(text)
        found = _Plan(definitions).reader(plan)
        if len(_plans) < _MOST_PLANS:
            _plans[text] = found
    return found
