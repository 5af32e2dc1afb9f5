"""What calls with answers of several kinds take, in a process of its own: `python suite/answers.py CACHE`.

`benchmarks` of the checkout that is measured must be on the import path, so that an older commit can be measured too.
"""

from __future__ import annotations

import datetime
import decimal
import json
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Final

from pydantic import BaseModel

from coilclaw.sandbox import Limits, Snippet
from coilclaw.sdk import ToolContext, define_tool
from suite.runtime import MeasuredRuntime

_LIMITS: Final = Limits(seconds=120.0, calls=1_000_000)
_ROUNDS: Final = 6
_CALLS: Final = 400
_RUNS: Final = 100
_REST: Final = 0.004
"""While the pool makes the next guest."""


class Order(BaseModel):
    id: str
    customer: str
    total: decimal.Decimal
    placed_at: datetime.datetime
    state: str
    note: str


class Visit(BaseModel):
    """As common as can be: a record with the time of something."""

    id: str
    customer: str
    total: str
    placed_at: datetime.datetime
    state: str
    note: str


class Shipment(BaseModel):
    """Nothing in it but typed values."""

    id: uuid.UUID
    cost: decimal.Decimal
    sent_at: datetime.datetime
    due: datetime.date
    takes: datetime.timedelta


class PlainOrder(BaseModel):
    id: str
    customer: str
    total: str
    placed_at: str
    state: str
    note: str


_ORDERS: Final = [
    Order(
        id=f"order-{number}",
        customer=f"customer {number}",
        total=decimal.Decimal(number) / 4,
        placed_at=datetime.datetime(2026, 11, 1, 12, number % 60, tzinfo=datetime.UTC),
        state="shipped",
        note="a few words about this order",
    )
    for number in range(100)
]
_SHIPMENTS: Final = [
    Shipment(
        id=uuid.UUID(int=number),
        cost=order.total,
        sent_at=order.placed_at,
        due=datetime.date(2026, 12, 1 + number % 28),
        takes=datetime.timedelta(hours=number),
    )
    for number, order in enumerate(_ORDERS)
]
_PLAIN: Final = [PlainOrder(**order.model_dump(mode="json")) for order in _ORDERS]
_VISITS: Final = [Visit(**order.model_dump() | {"total": str(order.total)}) for order in _ORDERS]


@define_tool(id="shop.typed", risk="read")
def _typed(context: ToolContext) -> list[Order]:
    """Orders with times and decimals."""
    return _ORDERS


@define_tool(id="shop.visits", risk="read")
def _visits(context: ToolContext) -> list[Visit]:
    """Records with a time in each."""
    return _VISITS


@define_tool(id="shop.shipments", risk="read")
def _shipments(context: ToolContext) -> list[Shipment]:
    """Every field is of a type that JSON does not have."""
    return _SHIPMENTS


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
    "100 records, 1 of 6 fields a date-time": "tools.shop.visits()",
    "100 records, 2 of 6 fields typed": "tools.shop.typed()",
    "100 records, all 5 fields typed": "tools.shop.shipments()",
}


_SOURCE: Final = """
import time
best = 1.0
for _ in range({calls}):
    began = time.perf_counter()
    {call}.unwrap()
    best = min(best, time.perf_counter() - began)
best * 1e6
"""


def main(cache: Path) -> dict[str, float]:
    """Microseconds of a call by engine and answer: the best of many, because other programs only ever add to it.

    For wasm also what a call takes of the processor in all threads, with its share of the commits of its receipts.
    """
    found: dict[str, float] = {}
    tools = (_typed, _visits, _shipments, _plain, _one)
    with tempfile.TemporaryDirectory() as folder, MeasuredRuntime(Path(folder), cache, *tools) as measured:
        for engine, sandbox in (("wasm", measured.pooled), ("restricted", measured.restricted)):
            for _ in range(_ROUNDS):
                for name, call in _WORKLOADS.items():
                    source = _SOURCE.format(calls=_CALLS, call=call)
                    began = time.process_time()
                    report = measured.runtime.run(Snippet(source=source), sandbox, measured.registry, _LIMITS)
                    spent = (time.process_time() - began) / _CALLS * 1e6
                    key = f"{engine}, {name}"
                    found[key] = min(found.get(key, 1e9), float(report.value))
                    if engine == "wasm":  # A child of the other engine is not of this process.
                        key = f"{key}, processor time"
                        found[key] = min(found.get(key, 1e9), spent)
            snippet = Snippet(source="rows = tools.shop.typed().unwrap()\nlen(rows)")
            key = f"{engine}, a whole run with the same 100 records"
            for _ in range(_RUNS):
                began = time.perf_counter()
                measured.runtime.run(snippet, sandbox, measured.registry, _LIMITS)
                found[key] = min(found.get(key, 1e9), (time.perf_counter() - began) * 1e6)
                time.sleep(_REST)
    return found


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
