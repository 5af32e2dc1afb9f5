"""What calls with answers of several kinds take, in a process of its own: `python suite/answers.py CACHE`.

`benchmarks` of the checkout that is measured must be on the import path, so that an older commit can be measured too.
"""

from __future__ import annotations

import datetime
import decimal
import json
import sys
import tempfile
import uuid
from pathlib import Path
from typing import Final

from coilclaw.sdk import ToolContext, define_tool
from pydantic import BaseModel
from suite.runtime import MeasuredRuntime, PooledSandbox, SpareSandbox

_ROUNDS: Final = 5
_CALLS: Final = 60


class Order(BaseModel):
    id: uuid.UUID
    customer: str
    total: decimal.Decimal
    placed_at: datetime.datetime
    due: datetime.date
    note: str


class PlainOrder(BaseModel):
    id: str
    customer: str
    total: str
    placed_at: str
    due: str
    note: str


_ORDERS: Final = [
    Order(
        id=uuid.UUID(int=number),
        customer=f"customer {number}",
        total=decimal.Decimal(number) / 4,
        placed_at=datetime.datetime(2026, 11, 1, 12, number % 60, tzinfo=datetime.UTC),
        due=datetime.date(2026, 12, 1 + number % 28),
        note="a few words about this order",
    )
    for number in range(100)
]
_PLAIN: Final = [PlainOrder(**order.model_dump(mode="json")) for order in _ORDERS]


@define_tool(id="shop.typed", risk="read")
def _typed(context: ToolContext) -> list[Order]:
    """Orders with dates, decimals and ids."""
    return _ORDERS


@define_tool(id="shop.plain", risk="read")
def _plain(context: ToolContext) -> list[PlainOrder]:
    """The same in text."""
    return _PLAIN


@define_tool(id="shop.one", risk="read")
def _one(context: ToolContext) -> PlainOrder:
    """One of them."""
    return _PLAIN[0]


_WORKLOADS: Final = {
    "a number": "tools.math.add(a=1, b=2)",
    "one record": "tools.shop.one()",
    "100 records of text": "tools.shop.plain()",
    "100 typed records": "tools.shop.typed()",
}


def main(cache: Path) -> dict[str, float]:
    """Microseconds of a call, the best of some rounds, by engine and answer."""
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder, MeasuredRuntime(Path(folder), cache, _typed, _plain, _one) as measured:
        for engine, sandbox in (("wasm", PooledSandbox(measured)), ("restricted", SpareSandbox(measured))):
            for _ in range(_ROUNDS):
                for name, call in _WORKLOADS.items():
                    empty = sandbox.run(f"for _ in range({_CALLS}): pass")
                    taken = sandbox.run(f"for _ in range({_CALLS}): {call}.unwrap()")
                    key = f"{engine}, {name}"
                    found[key] = min(found.get(key, 1e9), (taken - empty) / _CALLS * 1e6)
    return found


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
