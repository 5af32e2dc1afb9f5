"""What a rule demands of one argument.

    arguments.path = "notes.txt"                          this value
    arguments.method = ["PUT", "DELETE"]                  one of these values
    arguments.amount = {above = 100}                      several demands, all met by one and the same value
    arguments."recipients.*" = {matches = "*@example.org", ignore_case = true}

A path names an argument, or something inside it; `*` is any element of a list or any value of a
table. What cannot be looked at (too much of it, nested too deeply) counts as meeting the demand.

Text is compared as text: that `a/../b` and `b` are the same file, or that one text holds two
addresses, only the tool knows, and it says so in its classification. The `*` of a pattern spans everything.
"""

from __future__ import annotations

import difflib
import json
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import translate
from typing import Any, Final

from coilclaw.policy.comparison import any_of, exactly, number, plain
from coilclaw.policy.lookup import Found, TooMany, found_at, is_echo, is_list, is_plain_echo

__all__ = ["Constraint", "Problem", "read_constraint"]

_MOST_PARTS: Final = 16
_LONGEST_SHOWN: Final = 60
_LARGEST_WRITTEN: Final = 10**400
_ORDERS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "above": operator.gt,
    "at_least": operator.ge,
    "below": operator.lt,
    "at_most": operator.le,
}
_TEXTS: Final = ("matches", "not_matches", "starts_with")
_LENGTHS: Final = ("length_at_least", "length_at_most")
_LISTED: Final = ("one_of", "not_one_of")
_KEYS: Final = ("equals", *_LISTED, *_TEXTS, *_ORDERS, *_LENGTHS, "present", "ignore_case")
_ABOUT_VALUES: Final = tuple(key for key in _KEYS if key not in ("present", "ignore_case"))


_Check = Callable[[Any, bool], bool]
"""Gets a value, and whether the path names a list that it stands in."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Something that is wrong with a rule: where in it, and what."""

    place: tuple[str, ...]
    message: str
    given: Any


@dataclass(frozen=True, kw_only=True)
class Constraint:
    """All demands on what one path names; made by `read_constraint`."""

    path: str
    demands: Mapping[str, Any]
    _parts: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _simple: bool = field(init=False, repr=False, compare=False)
    """Whether the path is the name of an argument and nothing else."""
    _checks: tuple[_Check, ...] = field(init=False, repr=False, compare=False)
    _fold: bool = field(init=False, repr=False, compare=False)
    _present: bool | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        fold = bool(self.demands.get("ignore_case"))
        checks = (_check(key, self.demands[key], fold) for key in _ABOUT_VALUES if key in self.demands)
        simple = "present" not in self.demands and "." not in self.path and self.path != "*"
        object.__setattr__(self, "_parts", tuple(self.path.split(".")))
        object.__setattr__(self, "_simple", simple)
        object.__setattr__(self, "_checks", tuple(checks))
        object.__setattr__(self, "_fold", fold)
        object.__setattr__(self, "_present", self.demands.get("present"))

    def holds(self, sent: Mapping[str, Any], meant: Any = None) -> bool:
        """Whether the arguments meet the demands.

        `sent` is what the caller wrote, `meant` what the tool makes of it, with its defaults. A value
        in either counts. Whether a path is present is a question about what was written.
        """
        try:
            if self._simple and is_plain_echo(sent, meant, self.path, ignore_case=self._fold):
                return self._is_met(sent[self.path], False)  # What most calls come to, in a fraction of the time.
            written = found_at(sent, self._parts, ignore_case=self._fold)
            if self._present is not None and not _is_present(written, self._present):
                return False
            if not self._checks or self._met_by(written):
                return True
            if meant is None or is_echo(sent, meant, self._parts[0]):
                return False
            return self._met_by(found_at(meant, self._parts, ignore_case=self._fold))
        except TooMany:
            return True
        except Exception:
            # Nested too deeply, or worse: a value that cannot be compared has not shown that the rule is not about it.
            return True

    def _met_by(self, found: list[Found]) -> bool:
        return any(self._is_met(value, within) for value, within in found)

    def _is_met(self, value: Any, within: bool) -> bool:
        for check in self._checks:  # noqa: SIM110  # A generator would take longer than the checks.
            if not check(value, within):
                return False
        return True

    def unmet(self, sent: Mapping[str, Any], meant: Any = None) -> str | None:
        """Why the arguments do not meet the demands, in words, or None when they do."""
        if self.holds(sent, meant):
            return None
        found = found_at(sent, self._parts, ignore_case=self._fold)
        if not found and meant is not None:
            found = found_at(meant, self._parts, ignore_case=self._fold)
        given = f"is {_shown(found[0].value)}" if found else "is not given"
        return f"{self.path} {given}; demanded: {self}"

    def __str__(self) -> str:
        return ", ".join(f"{key} {_shown(wanted)}" for key, wanted in self.demands.items())


def read_constraint(path: str, raw: Any) -> Constraint | list[Problem]:
    """A constraint as it stands in the configuration, or everything that is wrong with it."""
    parts = path.split(".")
    if not all(parts) or len(parts) > _MOST_PARTS:
        return [_problem((path,), "must be a path of at most 16 names with dots between them", path)]
    if not isinstance(raw, Mapping):
        raw = {"one_of": raw} if isinstance(raw, list | tuple) else {"equals": raw}
    problems = [*_wrong_keys(path, raw), *_wrong_values(path, raw)] or [*_contradictions(path, raw)]
    if problems:
        return problems
    return Constraint(path=path, demands={key: raw[key] for key in _KEYS if key in raw})


def _wrong_keys(path: str, raw: Mapping[str, Any]) -> Iterator[Problem]:
    for key in raw:
        if key not in _KEYS:
            near = difflib.get_close_matches(str(key), _KEYS, n=1)
            meant = f"did you mean {near[0]!r}?" if near else f'a longer path is quoted: "{path}.{key}"'
            yield _problem((path, str(key)), f"unknown demand; {meant}", raw[key])
    if not set(raw) - {"ignore_case"}:
        yield _problem((path,), f"must demand something ({', '.join(_KEYS)})", raw)


def _wrong_values(path: str, raw: Mapping[str, Any]) -> Iterator[Problem]:
    for key, wanted in raw.items():
        needed = None
        if key in _ORDERS and not _is_number(wanted):
            needed = "a number"
        elif key in _LENGTHS and (not isinstance(wanted, int) or isinstance(wanted, bool) or wanted < 0):
            needed = "a whole number, at least 0"
        elif key == "not_matches":
            texts = wanted if isinstance(wanted, list | tuple) else [wanted]
            needed = None if texts and all(isinstance(each, str) for each in texts) else "text, or a list of texts"
        elif key in _TEXTS and not isinstance(wanted, str):
            needed = "text"
        elif key in ("present", "ignore_case") and not isinstance(wanted, bool):
            needed = "true or false"
        elif key in _LISTED and (not isinstance(wanted, list | tuple) or not wanted or None in wanted):
            needed = "a list with at least one value"
        elif key == "equals" and wanted is None:
            needed = "a value"
        if needed:
            yield _problem((path, key), f"must be {needed}", wanted)


def _contradictions(path: str, raw: Mapping[str, Any]) -> Iterator[Problem]:
    """Demands that no value meets: the rule would never apply, and nobody would notice."""
    if raw.get("present") is False and (others := [key for key in _ABOUT_VALUES if key in raw]):
        yield _problem((path,), f"can never hold: what is absent cannot meet `{others[0]}`", raw)
    texts = [key for key in ("matches", "starts_with") if key in raw]
    numbers = [key for key in _ORDERS if key in raw]
    if texts and numbers:
        yield _problem((path,), f"can never hold: `{texts[0]}` is about text, `{numbers[0]}` about numbers", raw)
    for low in ("above", "at_least"):
        for high in ("below", "at_most"):
            if low in raw and high in raw:
                empty = raw[low] > raw[high] or (raw[low] == raw[high] and (low, high) != ("at_least", "at_most"))
                if empty:
                    yield _problem((path,), f"can never hold: no number meets both `{low}` and `{high}`", raw)
    if raw.get("length_at_least", 0) > raw.get("length_at_most", math.inf):
        yield _problem((path,), "can never hold: `length_at_least` exceeds `length_at_most`", raw)
    for key in ("equals", "one_of"):
        if key in raw:
            wanted = [raw[key]] if key == "equals" else raw[key]
            further = {name: raw[name] for name in _ABOUT_VALUES if name in raw and name != key}
            fold = bool(raw.get("ignore_case"))
            checks = [_check(name, demand, fold) for name, demand in further.items()]
            if not any(all(check(each, False) for check in checks) for each in wanted):
                yield _problem((path,), f"can never hold: `{key}` leaves no value for `{next(iter(further))}`", raw)


def _check(key: str, wanted: Any, fold: bool) -> _Check:
    """One demand as a question about one value."""
    if key in ("equals", "one_of"):
        is_one = any_of([wanted] if key == "equals" else wanted, ignore_case=fold)
        return lambda value, within: is_one(value)
    if key == "not_one_of":
        return lambda value, within: (
            not is_list(value) and not any(exactly(each, value, ignore_case=fold) for each in wanted)
        )
    if key in _ORDERS:
        order = _ORDERS[key]
        return lambda value, within: _ordered(order, value, wanted)
    if key in _LENGTHS:
        return lambda value, within: not within and _has_length(value, wanted, most=key == "length_at_most")
    if key == "not_matches":
        listed = [wanted] if isinstance(wanted, str) else wanted
        patterns = [re.compile(translate(_folded(each, fold))) for each in listed]
        return lambda value, within: not is_list(value) and not _fits(patterns, value, fold)
    forms = _folded(wanted, fold), _folded(plain(wanted), fold)
    written: Callable[[str], Any]
    read: Callable[[str], Any]
    if key == "matches":
        written, read = (re.compile(translate(form)).match for form in forms)
    else:
        written, read = (lambda text: text.startswith(forms[0])), (lambda text: text.startswith(forms[1]))
    alike = forms[0] == forms[1]
    return lambda value, within: _reads(value, fold, written, read, alike)


def _is_present(written: list[Found], wanted: bool) -> bool:
    """A null is given, and is as good as nothing: it meets either demand."""
    return bool(written) if wanted else all(each.value is None for each in written)


def _reads(value: Any, fold: bool, written: Callable[[str], Any], read: Callable[[str], Any], alike: bool) -> bool:
    """Whether a text meets a demand as it is written, or as it is read; `alike` if both demand the same."""
    text = value if isinstance(value, str) else _as_text(value)
    if text is None:
        return False
    if written(text.casefold() if fold else text):
        return True
    seen = plain(text)
    return not (alike and seen == text) and bool(read(seen.casefold() if fold else seen))


def _as_text(value: Any) -> str | None:
    """What a number or a truth value would be written as."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) >= _LARGEST_WRITTEN:
        raise TooMany
    return repr(value) if isinstance(value, int | float) else None


def _folded(text: str, fold: bool) -> str:
    return text.casefold() if fold else text


def _fits(patterns: list[re.Pattern[str]], value: Any, fold: bool) -> bool:
    if not isinstance(value, str):
        return False
    text = _folded(value, fold)
    return any(pattern.match(text) for pattern in patterns)


def _ordered(order: Callable[[Any, Any], bool], value: Any, wanted: Any) -> bool:
    given = number(value)
    # Not a number is neither above nor below; nobody knows what the tool makes of it.
    return given is not None and (given != given or order(given, wanted))


def _has_length(value: Any, wanted: int, *, most: bool) -> bool:
    if not isinstance(value, str | Mapping) and not is_list(value):
        return False
    if most:
        return len(value) <= wanted
    # A list in a list is as long as all that is in it.
    return len(value) >= wanted or (is_list(value) and len(found_at(value, ("*",))) >= wanted)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _problem(place: tuple[str, ...], message: str, given: Any) -> Problem:
    return Problem(place=("arguments", *place), message=message, given=given)


def _shown(value: Any) -> str:
    """A value in short. A long one is cut before it is written out."""
    if isinstance(value, str):
        text = json.dumps(value[:_LONGEST_SHOWN], ensure_ascii=False)
        return text if len(value) <= _LONGEST_SHOWN else f'{text[:-1]}…"'
    if isinstance(value, list | tuple) and len(value) <= 10:
        return "[" + ", ".join("…" if is_list(each) else _shown(each) for each in value) + "]"
    if value is None or isinstance(value, bool | float) or (isinstance(value, int) and abs(value) < _LARGEST_WRITTEN):
        return json.dumps(value)
    return f"a {'list' if is_list(value) else 'table' if isinstance(value, Mapping) else type(value).__name__}"
