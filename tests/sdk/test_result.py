"""`Ok` and `Err` as values."""

from __future__ import annotations

import asyncio
from dataclasses import FrozenInstanceError

import pytest

from coilclaw.sdk import Err, Ok, Result, ToolCallError

pytestmark = pytest.mark.req("R20", "R21")


def test_ok_carries_its_value() -> None:
    result: Result[int] = Ok(3)
    assert result.ok
    assert bool(result)
    assert result.unwrap() == result.unwrap_or(0) == result.value == 3
    assert result.error is None


def test_err_is_a_value_until_it_is_unwrapped() -> None:
    result = Err("denied", "no", "ask")
    assert not result.ok
    assert not result
    assert result.unwrap_or(7) == 7
    assert result.error.code == "denied"
    for touch in (result.unwrap, lambda: result.value):
        with pytest.raises(ToolCallError, match=r"denied: no \(ask\)"):
            touch()


def test_both_can_be_matched() -> None:
    def tell(result: Result[int]) -> str:
        match result:
            case Ok(value):
                return f"ok {value}"
            case Err(error):
                return f"{error.code} {error.message} {error.hint}"

    assert tell(Ok(1)) == "ok 1"
    assert tell(Err("a", "b")) == "a b None"


def test_both_can_be_awaited() -> None:
    async def gather() -> tuple[Result[int], Result[int]]:
        return await Ok(1), await Err("a", "b")

    assert asyncio.run(gather()) == (Ok(1), Err("a", "b"))


def test_results_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Ok(1).value = 2  # type: ignore[misc]
