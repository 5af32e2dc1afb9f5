"""One byte string for each JSON value, so that a hash means the value.

RFC 8785 restricted to a profile on which sorted, compact JSON already is canonical: keys are
ASCII, numbers are integers below 2^53, nesting is bounded. Receipts stay inside the profile.
Contents (arguments and results) may hold floats; their hash covers the stored bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from coilclaw.sdk.quick_json import compact_encoder, to_json

__all__ = ["NotCanonical", "canonical_json", "contents_json", "digest", "in_profile"]

_MAX_DEPTH: Final = 16
_MAX_INTEGER: Final = 2**53
_EMPTY: Final = hashlib.sha256()

# Made once: `str | bool` in a call would make the union again for every value. A dict is recognised before any mapping.
_AS_IT_IS: Final = (str, bool)
_OBJECT: Final = (dict, Mapping)
_LIST: Final = (list, tuple)

_encode_contents: Final = compact_encoder(ensure_ascii=False, sort_keys=True)


class NotCanonical(ValueError):
    """The value has no canonical form in the profile."""


def in_profile(value: Any, depth: int = 0) -> Any:
    """The same value with its keys sorted; raises `NotCanonical` if it leaves the profile."""
    if value is None or isinstance(value, _AS_IT_IS):
        return value
    if isinstance(value, int):
        if abs(value) >= _MAX_INTEGER:
            raise NotCanonical(f"{value} is not below 2^53")
        return value
    if depth >= _MAX_DEPTH:
        raise NotCanonical(f"nested deeper than {_MAX_DEPTH} levels")
    if isinstance(value, _OBJECT):
        for key in value:
            if not isinstance(key, str) or not key.isascii():
                raise NotCanonical(f"key {key!r} is not an ASCII string")
        return {key: in_profile(value[key], depth + 1) for key in sorted(value)}
    if isinstance(value, _LIST):
        return [in_profile(item, depth + 1) for item in value]
    raise NotCanonical(f"{type(value).__name__} is not allowed")


def canonical_json(ordered: Any) -> bytes:
    """The canonical bytes of a value that came out of `in_profile`, or was built in that order."""
    try:
        return to_json(ordered)
    except ValueError as error:  # A lone surrogate, for one.
        raise NotCanonical(str(error)) from None


def contents_json(value: Any) -> bytes:
    """Sorted compact JSON of any JSON value, floats included."""
    try:
        return _encode_contents(value).encode()
    except (UnicodeEncodeError, TypeError, ValueError, RecursionError) as error:
        raise NotCanonical(str(error)) from None


def digest(data: bytes) -> str:
    made = _EMPTY.copy()
    made.update(data)
    return made.hexdigest()
