"""Three tools of a small shop: two that read, one that writes."""

from pydantic import BaseModel

from coilclaw.sdk import ToolContext, ToolFailure, define_tool

from .warehouse import PRODUCTS, count


class Product(BaseModel):
    id: str
    name: str
    wanted: int


class Stock(BaseModel):
    product: str
    on_shelf: int


class Order(BaseModel):
    product: str
    quantity: int
    reference: str


@define_tool(id="shop.products.list", risk="read", examples=[{}], summary="Listed the products")
def list_products(ctx: ToolContext) -> list[Product]:
    """Every product, and how many of it the shop wants on its shelf."""
    return [Product(id=key, name=str(facts["name"]), wanted=int(facts["wanted"])) for key, facts in PRODUCTS.items()]


@define_tool(id="shop.stock.count", risk="read", examples=[{"product": "tea"}], summary="Counted {product}")
def count_stock(ctx: ToolContext, product: str) -> Stock:
    """How many of a product are on the shelf. Takes a tenth of a second: count several in parallel."""
    if product not in PRODUCTS:
        raise ToolFailure(
            f"there is no product {product!r}", code="no_such_product", hint=f"one of: {', '.join(PRODUCTS)}"
        )
    return Stock(product=product, on_shelf=count(product))


@define_tool(
    id="shop.orders.place",
    risk="write",
    examples=[{"product": "tea", "quantity": 5}],
    summary="Ordered {quantity} of {product}",
)
def place_order(ctx: ToolContext, product: str, quantity: int) -> Order:
    """Order more of a product. A write: a person is asked first, unless the autonomy level says otherwise."""
    if product not in PRODUCTS or quantity < 1:
        raise ToolFailure(f"cannot order {quantity} of {product!r}", code="bad_order")
    return Order(product=product, quantity=quantity, reference=f"order-{ctx.idempotency_key[-6:]}")
