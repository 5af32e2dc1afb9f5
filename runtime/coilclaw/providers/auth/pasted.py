"""Credentials as a person pastes or pipes them: checked before they are kept, and never repeated."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any, Final

from coilclaw.providers.auth.profiles import ApiKey, Profile, ProfileType, Token, is_reference, profile_from
from coilclaw.providers.credentials import SETUP_TOKEN
from coilclaw.sdk import OperatorError

__all__ = ["checked_setup_token", "pasted_profile"]

_PREFIX: Final = f"{SETUP_TOKEN}01-"
_REST: Final = re.compile(r"[A-Za-z0-9_-]+")
_SHORTEST: Final = 80
_LONGEST: Final = 1024
_AGAIN: Final = "run `claude setup-token` again and paste all that it prints as the token"


def checked_setup_token(text: str) -> str:
    """Return a pasted setup token without what surrounds it. Raises OperatorError, which repeats none of it."""
    token = text.strip().strip("\"'")
    if token.startswith("sk-ant-api"):
        raise OperatorError(
            "this is an API key, not a setup token; nothing was changed",
            hint="`coilclaw auth add anthropic` stores an API key",
        )
    if not token.startswith(_PREFIX):
        raise OperatorError(f"a setup token begins with {_PREFIX}; nothing was changed", hint=_AGAIN)
    if not _REST.fullmatch(token):
        problem = "has characters that no setup token has, such as blanks or line breaks"
    elif len(token) < _SHORTEST:
        problem = f"is cut: it has {len(token)} characters, and a setup token at least {_SHORTEST}"
    elif len(token) > _LONGEST:
        problem = f"is longer than any setup token: it has {len(token)} characters"
    else:
        return token
    raise OperatorError(f"what was pasted {problem}; nothing was changed", hint=_AGAIN)


def pasted_profile(provider: str, kind: ProfileType, text: str) -> Profile:
    """Return the profile that a pasted credential makes. An oauth profile is pasted as a JSON object."""
    text = text.strip()
    if kind == "oauth":
        return _oauth(provider, text)
    if not is_reference(text) and (not text.isascii() or not text.isprintable() or " " in text or not text):
        raise OperatorError("a credential is one line without blanks; nothing was changed")
    if kind == "api_key" and text.startswith(SETUP_TOKEN):
        raise OperatorError(
            "this is a setup token, not an API key; nothing was changed", hint="coilclaw auth anthropic setup-token"
        )
    return ApiKey(provider=provider, key=text) if kind == "api_key" else Token(provider=provider, token=text)


def _oauth(provider: str, text: str) -> Profile:
    found: Any = None
    with suppress(ValueError, RecursionError):  # Said below: the parser's own error has the text.
        found = json.loads(text)
    problem = "is not a JSON object"
    if isinstance(found, dict):
        try:
            return profile_from({**found, "type": "oauth", "provider": provider})
        except ValueError as error:
            problem = str(error)
    raise OperatorError(
        f"what was given {problem}; nothing was changed",
        hint='an oauth profile is {"access": "…", "refresh": "…", "expires": seconds since 1970}',
    )
