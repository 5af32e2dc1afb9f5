"""Orders, products and prices of a shop."""

import asyncio
import datetime as dt
import decimal
import json
from typing import Any, Literal

from pydantic import BaseModel, Field

from coilclaw.sdk import ToolContext, ToolFailure, define_tool

Status = Literal["paid", "shipped", "returned"]
Money = decimal.Decimal


class Line(BaseModel):
    sku: str
    quantity: int
    price: Money = Field(description="Of one piece, in EUR.")


class Order(BaseModel):
    id: str
    customer: str
    status: Status
    placed_at: dt.datetime
    lines: list[Line]
    total: Money


class Product(BaseModel):
    sku: str
    name: str
    price: Money
    items: int = Field(description="Pieces in one package.")


class Refund(BaseModel):
    order_id: str
    amount: Money
    booked_on: dt.date


PRODUCTS = [
    Product(sku="MUG", name="Blue mug", price=Money("9.90"), items=1),
    Product(sku="TEA", name="Green tea", price=Money("4.25"), items=20),
    Product(sku="POT", name="Tea pot", price=Money("119.00"), items=1),
    Product(sku="SPN", name="Spoons", price=Money("0.80"), items=6),
]
STOCK = {"MUG": 12, "TEA": 140, "POT": 0, "SPN": 3}
_CUSTOMERS = ["Ana", "Ben", "Cleo", "Dai"]


def _order(number: int) -> Order:
    lines = [
        Line(sku=p.sku, quantity=1 + (number + place) % 4, price=p.price)
        for place, p in enumerate(PRODUCTS)
        if (number + place) % 3 == 0
    ]
    return Order(
        id=f"o{number:02}",
        customer=_CUSTOMERS[number * 3 % 4],
        status=["paid", "shipped", "shipped", "returned"][number % 4],
        placed_at=dt.datetime(2026, 10, 20, 18, tzinfo=dt.UTC) + dt.timedelta(hours=31 * number),
        lines=lines,
        total=sum((line.price * line.quantity for line in lines), Money("0.00")),
    )


ORDERS = [_order(number) for number in range(16)]
RATES = {"USD": Money("1.0831"), "GBP": Money("0.8412"), "JPY": Money("164.35")}


def _leave(ctx: ToolContext, effect: str, **facts: Any) -> None:
    with (ctx.workspace / "effects.jsonl").open("a") as file:
        file.write(json.dumps([effect, facts], sort_keys=True) + "\n")


@define_tool(id="shop.orders", risk="read", summary="Listed orders")
def orders(ctx: ToolContext, status: Status | None = None, after: dt.datetime | None = None) -> list[Order]:
    """Orders, oldest first."""
    return [o for o in ORDERS if status in (None, o.status) and (after is None or o.placed_at > after)]


@define_tool(id="shop.products", risk="read", summary="Listed products")
def products(ctx: ToolContext) -> dict[str, Product]:
    """All products by their SKU."""
    return {product.sku: product for product in PRODUCTS}


@define_tool(id="shop.stock", risk="read", summary="Counted {sku}")
async def stock(ctx: ToolContext, sku: str) -> int:
    """How many packages are there. Takes a moment: ask for several at once. Fails with `unknown_sku`."""
    await asyncio.sleep(0.02)
    if sku not in STOCK:
        raise ToolFailure(f"no product has the SKU {sku!r}", code="unknown_sku", hint=f"One of {', '.join(STOCK)}.")
    return STOCK[sku]


@define_tool(id="shop.rate", risk="read", summary="Asked for the rate of {currency}")
def rate(ctx: ToolContext, currency: str = Field(pattern="^[A-Z]{3}$"), on: dt.date | None = None) -> Money:
    """How much of a currency one EUR is worth."""
    if currency not in RATES:
        raise ToolFailure(f"no rate for {currency}", code="no_rate")
    return RATES[currency]


@define_tool(id="shop.refund", risk="write", summary="Refunded {amount} of {order_id}")
def refund(ctx: ToolContext, order_id: str, amount: Money = Field(gt=0, decimal_places=2), reason: str = "") -> Refund:
    """Pay money back. Fails with `too_much` if it is more than the order's total."""
    for order in ORDERS:
        if order.id == order_id:
            if amount > order.total:
                raise ToolFailure(f"{amount} is more than the total of {order.total}", code="too_much")
            _leave(ctx, "shop.refund", order_id=order_id, amount=str(amount))
            return Refund(order_id=order_id, amount=amount, booked_on=dt.date(2026, 11, 18))
    raise ToolFailure(f"there is no order {order_id!r}", code="no_such_order")


@define_tool(id="shop.reorder", risk="write", summary="Reordered {quantity} of {sku}")
def reorder(ctx: ToolContext, sku: str, quantity: int = Field(ge=1, le=500)) -> str:
    """Order packages from the supplier; gives the reference."""
    if sku not in STOCK:
        raise ToolFailure(f"no product has the SKU {sku!r}", code="unknown_sku")
    _leave(ctx, "shop.reorder", sku=sku, quantity=quantity)
    return f"ref-{sku.lower()}-{quantity}"
