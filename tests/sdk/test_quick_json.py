"""JSON of the runtime's own: the same bytes and values, whether or not pydantic is loaded."""

from __future__ import annotations

import sys
from typing import Any

import pydantic_core
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coilclaw.sdk.quick_json import from_json, to_json

SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "pydantic_core")


@given(VALUES)
def test_both_write_the_same_bytes_and_read_the_same_value(value: Any) -> None:
    core = sys.modules.pop("pydantic_core")
    try:
        written, read = to_json(value), from_json(pydantic_core.to_json(value))
    finally:
        sys.modules["pydantic_core"] = core
    assert written == to_json(value) == pydantic_core.to_json(value)
    assert read == from_json(written) == value


@pytest.mark.parametrize("loaded", [True, False])
def test_what_is_no_json_is_refused_by_both(loaded: bool, request: pytest.FixtureRequest) -> None:
    if not loaded:
        request.getfixturevalue("alone")
    for data in (b"", b"{", b"[1,]", b"\xff", b"[" * 100_000, b"nul"):
        with pytest.raises(ValueError):
            from_json(data)
    with pytest.raises(ValueError):
        to_json("\ud800")
