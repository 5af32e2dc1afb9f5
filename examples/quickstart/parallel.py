# Four calls of a tenth of a second each, together: in `coilclaw receipt list` they begin before the first has ended.
pending = [tools.shop.stock.count.start(product=name) for name in ("tea", "mug", "jar", "tin")]
counts = {call.result().value["product"]: call.result().value["on_shelf"] for call in pending}
counts
