"""The file that scripts a mock model: its replies, in order.

{"replies": [{"when": "weather", "code": "print(1)"}, {"text": "It is sunny."}, {"error": "rate_limit"}]}
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeGuard

from coilclaw.sdk import OperatorError
from coilclaw.sdk.frozen import Frozen
from coilclaw.sdk.legible import as_name

if TYPE_CHECKING:
    from pydantic_core import SchemaValidator

    from coilclaw.providers.errors import FailureKind

__all__ = ["Reply", "read_fixture"]

_LARGEST_FILE: Final = 8 * 1024 * 1024
_LONGEST_PATTERN: Final = 1000
_LONGEST_DELAY: Final = 3600
_ERRORS: Final[tuple[FailureKind, ...]] = ("timeout", "network", "auth", "rate_limit", "billing", "server")
_KEYS: Final = ("text", "tool_calls", "code", "error", "delay_seconds", "when")
_ANSWERS: Final = ("text", "tool_calls", "code", "error")

_Problem: TypeAlias = tuple[str, str]
"""A place and what is wrong there."""


class Reply(Frozen):
    """One scripted answer."""

    text: str = ""
    tool_calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """Names and arguments; code is a call of `run_python`."""
    error: FailureKind | None = None
    """Fail with this, after the text if there is one."""
    delay_seconds: float = 0.0
    when: str | None = None

    def fits(self, message: str) -> bool:
        """Whether it is meant for a person's message."""
        return self.when is None or _compiled(self.when).isinstance_python(message)


def read_fixture(path: Path) -> tuple[Reply, ...]:
    """Return the replies of a file. Raises OperatorError that names every place that cannot be used."""
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST_FILE + 1)
        document: Any = json.loads(data) if len(data) <= _LARGEST_FILE else None
    except OSError as error:
        raise _unusable(path, [("", f"cannot be read: {error.strerror}")]) from None
    except json.JSONDecodeError as error:
        raise _unusable(path, [(f"line {error.lineno}", f"is not JSON: {error.msg}")]) from None
    except (ValueError, RecursionError):
        raise _unusable(path, [("", "is not JSON")]) from None
    if len(data) > _LARGEST_FILE:
        raise _unusable(path, [("", f"is larger than {_LARGEST_FILE} bytes")])
    if problems := list(_problems(document)):
        raise _unusable(path, problems)
    return tuple(_reply(each) for each in document["replies"])


def _unusable(path: Path, problems: list[_Problem]) -> OperatorError:
    found = "; ".join(f"{place} {problem}".strip() for place, problem in problems[:10])
    more = f"; and {len(problems) - 10} more" if len(problems) > 10 else ""
    return OperatorError(
        f"the fixture {path} cannot be used: {found}{more}",
        hint='a fixture is {"replies": [{"text": "hello"}]}; docs/providers.md lists what a reply can have',
    )


def _reply(given: Mapping[str, Any]) -> Reply:
    calls = [(call["name"], call.get("arguments", {})) for call in given.get("tool_calls", [])]
    if "code" in given:
        calls.append(("run_python", {"code": given["code"]}))
    return Reply(
        text=given.get("text", ""),
        tool_calls=tuple(calls),
        error=given.get("error"),
        delay_seconds=float(given.get("delay_seconds", 0)),
        when=given.get("when"),
    )


def _problems(document: Any) -> Iterator[_Problem]:
    if not isinstance(document, dict) or not isinstance(document.get("replies"), list):
        yield "", 'must be an object with a list "replies"'
        return
    for key in document.keys() - {"replies"}:
        yield _key(key), "is not known here; there is replies"
    for number, reply in enumerate(document["replies"]):
        place = f"replies[{number}]"
        if not isinstance(reply, dict):
            yield place, "must be an object"
            continue
        yield from ((f"{place}.{key}", problem) for key, problem in _problems_of_reply(reply))


def _problems_of_reply(reply: Mapping[str, Any]) -> Iterator[_Problem]:
    for key in reply:
        if key not in _KEYS:
            yield _key(key), f"is not known here; there is {', '.join(_KEYS)}"
    if not any(key in reply for key in _ANSWERS):
        yield "text", f"is missing: a reply has one of {', '.join(_ANSWERS)}"
    for key in ("text", "code"):
        if key in reply and not _is_text(reply[key]):
            yield key, "must be text"
    if "error" in reply:
        if reply["error"] not in _ERRORS:
            yield "error", f"must be one of {', '.join(_ERRORS)}"
        for key in ("tool_calls", "code"):
            if key in reply:
                yield key, "has no place beside an error"
    delay = reply.get("delay_seconds", 0)
    if type(delay) not in (int, float) or not math.isfinite(delay) or not 0 <= delay <= _LONGEST_DELAY:
        yield "delay_seconds", f"must be a number from 0 to {_LONGEST_DELAY}"
    if "when" in reply and (problem := _problem_of_pattern(reply["when"])):
        yield "when", problem
    yield from _problems_of_calls(reply.get("tool_calls", []))


def _problems_of_calls(calls: Any) -> Iterator[_Problem]:
    if not isinstance(calls, list):
        yield "tool_calls", "must be a list"
        return
    for number, call in enumerate(calls):
        place = f"tool_calls[{number}]"
        if not isinstance(call, dict):
            yield place, "must be an object with name and arguments"
            continue
        if not _is_text(call.get("name")) or not call["name"]:
            yield f"{place}.name", "must be the name of a tool"
        arguments = call.get("arguments", {})
        if not isinstance(arguments, dict) or not _is_text(json.dumps(arguments, ensure_ascii=False)):
            yield f"{place}.arguments", "must be an object"
        for key in call.keys() - {"name", "arguments"}:
            yield f"{place}.{_key(key)}", "is not known here; there is name, arguments"


def _key(name: str) -> str:
    return as_name(name, 80)


def _is_text(value: object) -> TypeGuard[str]:
    """Half a surrogate pair is JSON, and cannot be stored or sent."""
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


# Patterns ------------------------------------------------------------------------------------------------


def _compiled(pattern: str) -> SchemaValidator:
    """Compile for the engine that pydantic brings: it takes linear time, whatever pattern meets whatever message."""
    from pydantic_core import SchemaValidator, core_schema

    return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))


def _problem_of_pattern(pattern: object) -> str | None:
    if not _is_text(pattern) or len(pattern) > _LONGEST_PATTERN:
        return f"must be a pattern of at most {_LONGEST_PATTERN} characters"
    from pydantic_core import SchemaError

    try:
        _compiled(pattern)
    except SchemaError:
        return "is not a regular expression, or one that looks ahead, behind or back, which is not supported"
    return None
