"""The shapes of credentials: text that is one by its looks, and names that credentials are kept under.

A known secret is replaced by its value wherever that is known. This is for those that nobody has declared, such as a
key that a person pastes into a message. Hashes, ids and encoded data have none of these shapes.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable
from typing import Final, NamedTuple

__all__ = ["CREDENTIAL_MARK", "has_credential", "is_secret_field", "is_secret_variable", "without_credentials"]

CREDENTIAL_MARK: Final = "[redacted: looks like a credential]"

_VARIABLE: Final = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)$", re.IGNORECASE)
_VARIABLE_OF_PROGRAM: Final = re.compile(r"token|secret|passw|passphrase|credential|auth|key", re.IGNORECASE)
_FIELD: Final = re.compile(
    r"^(.*_)?(api_?key|token|secret|password|passwd|passphrase|authorization|cookie|credentials?)$", re.IGNORECASE
)
_PLACEHOLDER: Final = re.compile(
    r"(?i:password|passwd|pass|secret|token|pwd?|port)|\$\{?[A-Z][A-Z0-9_]*\}?|\$[({].*|\{.*\}|\[.*\]?|%\w|[xX*.…]+"
)


class _Shape(NamedTuple):
    """A kind of credential. Its pattern is tried only on text that has one of the signs: most text has none."""

    signs: tuple[str, ...]
    pattern: re.Pattern[str]
    is_one: Callable[[re.Match[str]], bool] = lambda found: True

    def mark(self, found: re.Match[str]) -> str:
        return CREDENTIAL_MARK if self.is_one(found) else found[0]


# One start for each word, and no way back within it: the time a text takes grows with its length alone. A word also
# begins behind a line's end that is written out, as in JSON.
_START: Final = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"
_START_OF_DATA: Final = r"(?:(?<![A-Za-z0-9+/_-])|(?<=\\[nrt]))"
_END_OF_DATA: Final = r"(?![A-Za-z0-9+/=_-])"


def _prefixed(*prefixes: str, rest: str) -> _Shape:
    return _Shape(prefixes, re.compile(f"{_START}(?:{'|'.join(map(re.escape, prefixes))}){rest}"))


def _has_digit(found: re.Match[str]) -> bool:
    return any(char.isdecimal() for char in found[0])


def _is_token(found: re.Match[str]) -> bool:
    token = found["token"]
    if _has_digit(found) or (len(token) >= 16 and token.lower() != token != token.upper()):
        return True
    before = found.string[max(0, found.start() - 30) : found.start()]
    return re.search(r"authorization\W{1,8}bearer $", before, re.IGNORECASE) is not None


def _is_basic(found: re.Match[str]) -> bool:
    try:
        return b":" in b64decode(found["token"], validate=True)
    except ValueError:
        return False


def _is_password(found: re.Match[str]) -> bool:
    return _PLACEHOLDER.fullmatch(found["password"]) is None


def _has_key_in_it(found: re.Match[str]) -> bool:
    return found["half"] is None or re.search(r"[A-Za-z0-9+/]{40}", found["half"]) is not None


_WORD: Final = "[A-Za-z0-9_-]"
_SHAPES: Final = (
    _prefixed("sk-ant-", "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-", "sk-live-", rest=f"{_WORD}{{12,}}+"),
    _Shape(("sk-", "pk-", "rk-"), re.compile(rf"{_START}[spr]k-{_WORD}{{12,}}+"), _has_digit),
    _Shape(("sk-", "pk-", "rk-", "xai-", "gsk"), re.compile(rf"{_START}(?:[spr]k-|xai-|gsk[-_])[\w.-]*+\*[\w*.-]*+")),
    _prefixed("sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_", rest="[A-Za-z0-9+/]{16,}+"),
    _prefixed("xai-", "gsk-", rest="[A-Za-z0-9]{12,}+"),
    _prefixed("gsk_", "hf_", "npm_", "phc_", "phx_", "lin_api_", "shpat_", "dop_v1_", rest="[A-Za-z0-9]{16,}+"),
    _prefixed("ghp_", "gho_", "ghu_", "ghs_", "ghr_", rest="[A-Za-z0-9]{16,}+"),
    _prefixed("github_pat_", "glpat-", "pypi-AgE", "ya29.", rest="[A-Za-z0-9_-]{16,}+"),
    _Shape(("xox", "xapp-"), re.compile(rf"{_START}(?:xox[a-z]|xapp)-[A-Za-z0-9-]{{8,}}+"), _has_digit),
    _Shape(("AKIA", "ASIA"), re.compile(rf"{_START_OF_DATA}A[KS]IA[0-9A-Z]{{16}}{_END_OF_DATA}")),
    _Shape(("AIza",), re.compile(rf"{_START_OF_DATA}AIza{_WORD}{{30,}}+")),
    _Shape(("SG.",), re.compile(rf"{_START}SG\.{_WORD}{{16,64}}+\.{_WORD}{{16,}}+")),
    _Shape(("key-",), re.compile(rf"{_START}key-[0-9a-f]{{32}}(?![0-9A-Za-z])")),
    _Shape((":AA",), re.compile(rf"{_START}[0-9]{{8,10}}:AA{_WORD}{{30,40}}+")),
    _Shape(("eyJ",), re.compile(rf"{_START}eyJ{_WORD}{{8,}}+\.{_WORD}*+\.{_WORD}{{4,}}+(?:\.{_WORD}++){{0,2}}")),
    _Shape(("eyJ",), re.compile(rf"{_START}eyJ{_WORD}{{8,}}+\.eyJ{_WORD}{{8,}}+\.")),
    _Shape(("earer ", "EARER "), re.compile(r"(?<=[Bb]earer |BEARER )(?P<token>[A-Za-z0-9._~+/=-]{8,}+)"), _is_token),
    _Shape(("asic ", "ASIC "), re.compile(r"(?<=[Bb]asic |BASIC )(?P<token>[A-Za-z0-9+/]{8,}+={0,2})"), _is_basic),
    _Shape(
        ("://",),
        re.compile(r"(?<=://)[^\s/@:?#\"'<>]{0,200}+:(?P<password>[^\s/@\"'<>]{1,200}+)(?=@)"),
        _is_password,
    ),
    _Shape(
        ("PRIVATE KEY",),
        re.compile(
            r"-----BEGIN [A-Z ]{0,30}?PRIVATE KEY(?: BLOCK)?-----(?:(?:[^-]|-(?!----))*+-----END [A-Z ]{0,40}-----"
            r"|(?P<half>(?:[A-Za-z0-9+/=\s]|\\[nr])*+))"
        ),
        _has_key_in_it,
    ),
)
_PART: Final = re.compile(r"\b(?:sk|pk|rk|xai|gsk|key)-[\w*.-]{4,}+|(?<=\bBearer)(\s++)\S++", re.IGNORECASE)
"""A short credential, or a piece of one as a service quotes it: `sk-ab…yz`. Ordinary words may look like this."""


def without_credentials(text: str, *, parts: bool = False) -> str:
    """Return the text with a mark in place of everything in it that looks like a credential.

    With `parts`, also in place of what may be a short one or a piece of one, in text that is not worth keeping whole.
    """
    if parts:
        text = _PART.sub(lambda found: (found[1] or "") + CREDENTIAL_MARK, text)
    for shape in _SHAPES:
        for sign in shape.signs:
            if sign in text:
                text = shape.pattern.sub(shape.mark, text)
                break
    return text


def has_credential(text: str, *, parts: bool = False) -> bool:
    """Whether something in the text looks like a credential; with `parts`, or like a short one or a piece of one."""
    return without_credentials(text, parts=parts) != text


def is_secret_variable(name: str, *, of_program: bool = False) -> bool:
    """Whether a variable of the environment holds a secret by its name.

    With `of_program` it is one that a person has set for one program alone, and may be a secret sooner.
    """
    return (_VARIABLE_OF_PROGRAM if of_program else _VARIABLE).search(name) is not None


def is_secret_field(name: str) -> bool:
    """Whether a field of a JSON object holds a secret by its name."""
    return _FIELD.match(name) is not None
