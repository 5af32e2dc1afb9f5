from typing import Any, Tuple


class ParseError(ValueError):
    def __init__(self, message: str, pos: int) -> None:
        super().__init__(f"{message} at {pos}")
        self.pos = pos


def _skip(s: str, i: int) -> int:
    while i < len(s) and s[i] in " \t\r\n":
        i += 1
    return i


def _value(s: str, i: int) -> Tuple[Any, int]:
    i = _skip(s, i)
    if i >= len(s):
        raise ParseError("unexpected end", i)
    ch = s[i]
    if ch == "{":
        return _object(s, i + 1)
    if ch == "[":
        return _array(s, i + 1)
    if ch == '"':
        end = s.index('"', i + 1)
        return s[i + 1 : end], end + 1
    for literal, value in (("true", True), ("false", False), ("null", None)):
        if s.startswith(literal, i):
            return value, i + len(literal)
    j = i
    while j < len(s) and s[j] in "+-.eE0123456789":
        j += 1
    if i == j:
        raise ParseError(f"unexpected {ch!r}", i)
    text = s[i:j]
    return (float(text) if any(c in text for c in ".eE") else int(text)), j


def _array(s, i):
    items = []
    i = _skip(s, i)
    while s[i] != "]":
        item, i = _value(s, i)
        items.append(item)
        i = _skip(s, i)
        if s[i] == ",":
            i += 1
    return items, i + 1


def _object(s, i):
    result = {}
    i = _skip(s, i)
    while s[i] != "}":
        key, i = _value(s, i)
        i = _skip(s, i)
        if s[i] != ":":
            raise ParseError("expected ':'", i)
        result[key], i = _value(s, i + 1)
        i = _skip(s, i)
        if s[i] == ",":
            i = _skip(s, i + 1)
    return result, i + 1


def loads(s: str) -> Any:
    value, i = _value(s, 0)
    if _skip(s, i) != len(s):
        raise ParseError("extra data", i)
    return value


assert loads('{"a": [1, 2.5, {"b": null}], "ok": true, "e": {}, "s": "x y"}') == {
    "a": [1, 2.5, {"b": None}], "ok": True, "e": {}, "s": "x y",
}
for bad in ("[1] 2", '{"a" 1}', "?", ""):
    try:
        loads(bad)
    except ParseError as e:
        assert str(e).endswith(str(e.pos))
    else:
        assert False, bad
"ok"
