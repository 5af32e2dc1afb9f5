"""The variables of a snippet that was stopped at a call, for the person who debugs it.

Nothing of the snippet runs while they are read: a `__repr__`, a property or an iterator of its own
classes could hang, flood, or change what is looked at. Objects are shown by what the interpreter
itself knows of them.
"""

from __future__ import annotations

import datetime
import decimal
import json
import types
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from coilclaw.sdk.result import Err, Ok, UnreadErr

__all__ = ["frames_json", "shown"]

_MOST_FRAMES = 10
_MOST_VARIABLES = 100
_MOST_ITEMS = 10
_DEEPEST = 3
_LONGEST = 200
_MOST_BITS = 512
_dumps = json.dumps  # A snippet may replace the one in the module.
_mro = type.__dict__["__mro__"].__get__
_name = type.__dict__["__name__"].__get__
_dict = type.__dict__["__dict__"].__get__


def _one_of(kind: type, kinds: Iterable[type]) -> bool:
    # By identity: a metaclass of the snippet may have an `__eq__` of its own.
    return any(kind is each for each in kinds)


# Of classes that nobody can change.
_BY_REPR = (bool, float, complex, type(None), range, type(...), type(NotImplemented))
_QUANTITIES = (datetime.date, datetime.timedelta, decimal.Decimal)
_ZONES = (type(None), datetime.timezone)
_FACADES = "coilclaw.sandbox.restricted.child.facades.facade"
_PENDING_CALLS = "coilclaw.sandbox.guest.pending_calls"
_FURNITURE = ("tools", "Ok", "Err", "Result", "ToolCallError", "ToolError", "display", "help")


def frames_json(frame: types.FrameType | None, flag: str) -> str:
    """The frames of the snippet, innermost first, each with its variables. Its globals are known by `flag`."""
    found: list[dict[str, Any]] = []
    while frame is not None and len(found) < _MOST_FRAMES:
        if flag in frame.f_globals:
            code = frame.f_code
            names = frame.f_globals if code.co_name == "<module>" else frame.f_locals
            found.append({"function": code.co_name, "line": frame.f_lineno or 0, "variables": _variables(names)})
        frame = frame.f_back
    return _dumps(found)


def _variables(names: Any) -> list[list[str]]:
    found = []
    for name, value in list(names.items()):
        if type(name) is not str or name.startswith(("_", ".", "coilclaw_")) or _is_furniture(name, value):
            continue
        found.append([name[:_LONGEST], _name(type(value))[:_LONGEST], shown(value)])
        if len(found) >= _MOST_VARIABLES:
            break
    return found


def _is_furniture(name: str, value: Any) -> bool:
    """Whether it is part of every snippet's surroundings rather than made by this one."""
    kind = type(value)
    return kind is types.ModuleType or name in _FURNITURE or _dict(kind).get("__module__") == _FACADES


def shown(value: Any, depth: int = 0) -> str:
    """A value in a few words."""
    try:
        text = _text(value, depth)
    except Exception:  # A number too long to write down, or too many levels.
        text = f"<{_name(type(value))}>"
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _text(value: Any, depth: int) -> str:
    kind = type(value)
    if _one_of(kind, (*_BY_REPR, *_QUANTITIES)):
        return repr(value)
    if kind is datetime.datetime or kind is datetime.time:
        # The zone may be an object of the snippet.
        return repr(value if _one_of(type(value.tzinfo), _ZONES) else value.replace(tzinfo=None))
    if kind is Ok or kind is Err or kind is UnreadErr:
        return _result(value, depth)
    if kind is types.FunctionType:
        return f"<function {value.__code__.co_name}>"
    lineage = _mro(kind)
    if _one_of(type, lineage):
        return f"<class {_name(value)}>"
    for base, show in _BY_BASE:
        if _one_of(base, lineage):
            text = show(value, depth)
            return text if kind is base else f"{_name(kind)}({text})"
    return _object(value, kind, depth)


def _integer(value: int, depth: int) -> str:
    bits = int.bit_length(value)
    return int.__repr__(value) if bits <= _MOST_BITS else f"<a number of {bits} bits>"


def _number(value: float, depth: int) -> str:
    return float.__repr__(value)


def _string(value: str, depth: int) -> str:
    size = str.__len__(value)
    text = repr(str.__getitem__(value, slice(0, _LONGEST - 50)))
    return text if size <= _LONGEST - 50 else f"{text}… ({size} characters)"


def _bytes(value: bytes, depth: int) -> str:
    size = bytes.__len__(value)
    text = repr(bytes.__getitem__(value, slice(0, _LONGEST // 4)))
    return text if size <= _LONGEST // 4 else f"{text}… ({size} bytes)"


def _mapping(value: dict[Any, Any], depth: int) -> str:
    size = dict.__len__(value)
    if depth >= _DEEPEST:
        return f"{{… {size}}}" if size else "{}"
    pairs = [f"{shown(key, depth + 1)}: {shown(item, depth + 1)}" for key, item in _some(dict.items(value))]
    return "{" + ", ".join(pairs) + _rest(size) + "}"


def _sequence(opening: str, closing: str, base: Any) -> Callable[[Any, int], str]:
    def show(value: Any, depth: int) -> str:
        size = base.__len__(value)
        if depth >= _DEEPEST and size:
            return f"{opening}… {size}{closing}"
        items = [shown(item, depth + 1) for item in _some(base.__iter__(value))]
        comma = "," if base is tuple and size == 1 else ""
        return opening + ", ".join(items) + comma + _rest(size) + closing

    return show


def _some(items: Iterable[Any]) -> list[Any]:
    return list(islice(items, _MOST_ITEMS))


def _rest(size: int) -> str:
    return f", … {size}" if size > _MOST_ITEMS else ""


def _error(value: BaseException, depth: int) -> str:
    arguments = BaseException.__dict__["args"].__get__(value)
    return ", ".join(shown(item, depth + 1) for item in _some(tuple.__iter__(arguments)))


_BY_BASE: tuple[tuple[Any, Callable[[Any, int], str]], ...] = (
    (str, _string),
    (bytes, _bytes),
    (int, _integer),
    (float, _number),
    (dict, _mapping),
    (list, _sequence("[", "]", list)),
    (tuple, _sequence("(", ")", tuple)),
    (set, _sequence("{", "}", set)),
    (frozenset, _sequence("{", "}", frozenset)),
    (BaseException, _error),
)


def _result(value: Any, depth: int) -> str:
    fields = _fields(value, type(value))
    if type(value) is Ok:
        return f"Ok({shown(fields.get('value'), depth + 1)})"
    return f"Err({shown(fields.get('code'), depth + 1)}, {shown(fields.get('message'), depth + 1)})"


def _object(value: Any, kind: type, depth: int) -> str:
    name = _name(kind)
    fields = _fields(value, kind)
    if name == "PendingCall" and _dict(kind).get("__module__") == _PENDING_CALLS:
        tool, state = fields.get("tool"), "pending" if fields.get("_result") is None else "done"
        return f"<call {shown(fields.get('number'))} of {tool if type(tool) is str else '?'}: {state}>"
    if not fields or depth >= _DEEPEST:
        return f"<{name}>"
    pairs = [f"{key}={shown(item, depth + 1)}" for key, item in _some(fields.items())]
    return f"<{name} {', '.join(pairs)}{_rest(len(fields))}>"


def _fields(value: Any, kind: type) -> dict[str, Any]:
    """What the object holds, without asking it: from its slots, or its own dictionary."""
    found: dict[str, Any] = {}
    for base in _mro(kind):
        for name, each in list(_dict(base).items()):
            if type(name) is not str:
                continue
            if type(each) is types.MemberDescriptorType and not name.startswith("_"):
                try:
                    found.setdefault(name, each.__get__(value))
                except AttributeError:
                    continue
            elif name == "__dict__" and type(each) is types.GetSetDescriptorType:
                held = each.__get__(value)
                if type(held) is dict:
                    found.update((key, item) for key, item in held.items() if type(key) is str)
    return found
