"""From what a service says about a failure to who has to react.

Nothing of an answer is repeated but its short message, and no part of a credential.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

from coilclaw.providers.errors import FailureKind, ProviderError
from coilclaw.providers.reading import table_of, text_of
from coilclaw.sdk.credential_shapes import without_credentials
from coilclaw.sdk.legible import one_line

__all__ = ["NotTaken", "failure_of_event", "failure_of_status", "redacted", "seconds_until"]

_LONGEST_MESSAGE: Final = 300
_LONGEST_READ: Final = 4000
_LONGEST_WAIT: Final = 7 * 86400.0
_TELLING: Final = 6
"""Characters of a credential in a row that are too many to show."""
_NOT_TAKEN: Final = (429, 503, 529)
"""With these a service says that it did not begin."""

_KINDS: Final[Mapping[str, FailureKind]] = {
    "authentication_error": "auth",
    "permission_error": "auth",
    "invalid_api_key": "auth",
    "billing_error": "billing",
    "insufficient_quota": "billing",
    "insufficient_credits": "billing",
    "billing_hard_limit_reached": "billing",
    "billing_not_active": "billing",
    "rate_limit_error": "rate_limit",
    "rate_limit_exceeded": "rate_limit",
    "timeout_error": "timeout",
    "overloaded_error": "server",
    "api_error": "server",
    "server_error": "server",
    "invalid_request_error": "refused",
    "not_found_error": "refused",
    "request_too_large": "refused",
}
"""What services call a failure in the `type` or `code` of an error."""
_ABOUT_MONEY: Final = re.compile(
    r"credit balance|insufficient (?:credit|funds|quota|balance)|exceeded your current quota", re.IGNORECASE
)
_WORDS: Final[Mapping[FailureKind, str]] = {
    "auth": "does not accept the credential",
    "billing": "wants to be paid first",
    "rate_limit": "has had too many requests",
    "timeout": "took too long",
    "server": "has failed",
    "refused": "refuses the request",
}
_HINTS: Final[Mapping[FailureKind, str]] = {
    "auth": "`coilclaw auth list` shows which credentials there are",
    "billing": "see to the account at the service, or use another provider",
    "rate_limit": 'try again later, or name a second provider with kind = "reliable"',
    "timeout": "try again",
    "server": "try again later",
    "refused": "check `base_url` and `model` of the provider",
}


class NotTaken(ProviderError):
    """The service did not begin with the request, so that it may be sent again."""


def failure_of_status(status: int, headers: Mapping[str, str], body: bytes, *, secret: str | None) -> ProviderError:
    """Return what an answer that is no success says."""
    said = _said(body)
    kind = _kind_of_status(status, said)
    cls = NotTaken if status in _NOT_TAKEN and kind != "billing" else ProviderError
    note = _message(said, secret)
    return cls(
        f"the service {_WORDS[kind]} (status {status})" + (f": {note}" if note else ""),
        kind=kind,
        retry_after=seconds_until(headers.get("retry-after", "")),
        hint="redirects are not followed; set `base_url` to where it leads" if 300 <= status < 400 else _HINTS[kind],
    )


def failure_of_event(error: Any, *, secret: str | None) -> ProviderError:
    """Return what an error inside a stream says."""
    said = error if isinstance(error, dict) else {"message": error}
    kind = _named_kind(said) or "server"
    note = _message(said, secret)
    return ProviderError(f"the service {_WORDS[kind]}" + (f": {note}" if note else ""), kind=kind, hint=_HINTS[kind])


def _said(body: bytes) -> Mapping[str, Any]:
    try:
        document = table_of(json.loads(body))
    except (ValueError, RecursionError):
        return {}
    error = document.get("error", document)
    return error if isinstance(error, dict) else {"message": error}


def _kind_of_status(status: int, said: Mapping[str, Any]) -> FailureKind:
    named = _named_kind(said)
    if status == 402 or named == "billing":
        return "billing"
    if status in (401, 403):
        return "auth"
    if status == 429:
        return "rate_limit"
    if status == 408:
        return "timeout"
    return "server" if status >= 500 else "refused"


def _named_kind(said: Mapping[str, Any]) -> FailureKind | None:
    names = [text_of(said.get(key)) for key in ("code", "type")]
    found: list[FailureKind] = [_KINDS[name] for name in names if name in _KINDS]
    if "billing" in found or _ABOUT_MONEY.search(text_of(said.get("message"))[:_LONGEST_READ]):
        return "billing"
    return found[0] if found else None


def _message(said: Mapping[str, Any], secret: str | None) -> str:
    return one_line(redacted(text_of(said.get("message"))[:_LONGEST_READ], secret), _LONGEST_MESSAGE)


def redacted(text: str, secret: str | None) -> str:
    """Return a text without words that have a part of the credential in them, or look like another one."""
    if secret:
        text = re.sub(r"\S+", lambda word: "[redacted]" if _tells(word[0], secret) else word[0], text)
    return without_credentials(text, parts=True)


def _tells(word: str, secret: str) -> bool:
    size = min(_TELLING, len(secret))
    return any(word[start : start + size] in secret for start in range(len(word) - size + 1))


def seconds_until(retry_after: str) -> float | None:
    """Return what a Retry-After header says, in seconds or as a date; None for what it cannot mean."""
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            moment = parsedate_to_datetime(retry_after)
        except (ValueError, TypeError, OverflowError, IndexError):
            return None
        seconds = (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return min(max(seconds, 0.0), _LONGEST_WAIT) if math.isfinite(seconds) else None
