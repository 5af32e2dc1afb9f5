"""The requests of a model as memory keeps them: whole and without credentials, or not carried out."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from coilclaw.memory import is_kept_whole
from coilclaw.providers import ToolRequest
from coilclaw.sdk.credential_shapes import CREDENTIAL_MARK, without_credentials

__all__ = ["kept_request", "request_facts", "whole_requests"]

_LARGEST_REQUEST: Final = 200_000
"""Characters of a request as JSON."""
_LARGEST_REPLY: Final = 800_000
"""Characters of the requests of one reply, as JSON."""
_LONGEST_NAME: Final = 200
"""Characters of the id and the name of a request that is not kept whole."""
_HAS_CREDENTIAL: Final = (
    "they hold something that looks like a credential. A person keeps it with `coilclaw secret set NAME`, for tools "
    "that declare NAME; do not repeat it"
)
_HAS_MARK: Final = f"they hold the mark {CREDENTIAL_MARK!r}, which stands for something else that you were not given"


def whole_requests(requests: Iterable[ToolRequest]) -> list[ToolRequest]:
    """The requests of a reply; in place of one that memory would cut, and that would mean something else, a problem."""
    made, left = [], _LARGEST_REPLY
    for each in requests:
        facts = request_facts(each)
        if not is_kept_whole(facts, _LARGEST_REQUEST):
            each = _refused(each, f"they have more than {_LARGEST_REQUEST} characters, or are nested too deep")
        elif not is_kept_whole(facts, left):
            each = _refused(each, f"all of one reply have more than {_LARGEST_REPLY} characters: ask for fewer at once")
        elif problem := _credential_problem(facts["arguments"]):
            each = _refused(each, problem)
        left -= len(json.dumps(request_facts(each)))
        made.append(each)
    return made


def _credential_problem(arguments: Any) -> str | None:
    """Why a request is not carried out whose run would keep a credential, or whose arguments have lost one."""
    text = json.dumps(arguments, ensure_ascii=False)
    if CREDENTIAL_MARK in text:
        return _HAS_MARK
    return _HAS_CREDENTIAL if without_credentials(text) != text else None


def _refused(request: ToolRequest, problem: str) -> ToolRequest:
    return ToolRequest(id=request.id[:_LONGEST_NAME], name=request.name[:_LONGEST_NAME], problem=problem)


def request_facts(request: ToolRequest) -> dict[str, Any]:
    """A request as memory is given it."""
    facts = {**vars(request), "arguments": dict(request.arguments)}
    return facts if request.echo is not None else {name: each for name, each in facts.items() if name != "echo"}


def kept_request(facts: Any) -> ToolRequest:
    """Read a request from memory. It has no seal: what stands there may be anything, and is then not carried out."""
    match facts:
        case {"id": str(id), "name": str(name), "arguments": dict(arguments), "problem": str() | None as problem}:
            problem = "they were not kept as they were: ask again" if facts.get("altered") else problem
            return ToolRequest(id=id, name=name, arguments=arguments, problem=problem, echo=facts.get("echo"))
    return ToolRequest(id="unknown", name="unknown", problem="it was not kept")
