"""One byte string for each value."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coilclaw.receipts import NotCanonical, canonical_json
from coilclaw.receipts.canonical import in_profile
from coilclaw.receipts.chain import FIELDS, Draft, checked, link

_scalars = (
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(st.characters(exclude_categories=["Cs"]))
)
_keys = st.text(st.characters(max_codepoint=127))
_values = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_keys, inner, max_size=4), max_leaves=12
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"b": 1, "a": [True, None, "x"]}, b'{"a":[true,null,"x"],"b":1}'),
        ({"": {}}, b'{"":{}}'),
        ('\u20ac$\u000f\nA\'B"\\"/', '"€$\\u000f\\nA\'B\\"\\\\\\"/"'.encode()),
        ("\x08\x0c\r\t\x7f", b'"\\b\\f\\r\\t\x7f"'),
        (["\U0001f600", -1], '["😀",-1]'.encode()),
        (2**53 - 1, b"9007199254740991"),
    ],
)
def test_vectors(value: Any, expected: bytes) -> None:
    assert canonical_json(in_profile(value)) == expected


@pytest.mark.parametrize("value", [1.5, 2**53, {"é": 1}, {1: 2}, b"x", {"a": object()}, {"a": {1, 2}}])
def test_values_outside_the_profile_are_refused(value: Any) -> None:
    with pytest.raises(NotCanonical):
        in_profile(value)


def test_too_deep_is_refused() -> None:
    value: Any = 1
    for _ in range(20):
        value = [value]
    with pytest.raises(NotCanonical):
        in_profile(value)


def test_lone_surrogates_are_refused() -> None:
    with pytest.raises(NotCanonical):
        canonical_json("\ud800")


@given(_values)
def test_canonical_form_is_sorted_compact_json(value: Any) -> None:
    plain = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert canonical_json(in_profile(value)) == plain


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    st.dictionaries(_keys, _scalars, max_size=3),
    st.integers(1, 2**40),
)
def test_body_written_out_equals_the_canonical_form(text: str, payload: dict[str, Any], seq: int) -> None:
    draft = Draft(type="tool.call.failed", status=text, timestamp="t", tool=text, run_id=text, payload=payload)
    made = link(checked(draft), log_id="ab12", seq=seq, previous_hash="0" * 64)
    fields = json.loads(made.body)
    assert tuple(fields) == tuple(name for name in FIELDS if name != "receipt_hash")
    assert canonical_json(in_profile(fields)) == made.body
    assert fields["tool"] == text
    assert fields["payload"] == payload
