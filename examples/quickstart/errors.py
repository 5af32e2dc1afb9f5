# A failed call is a value: look at it, or unwrap it and let the run fail.
result = tools.shop.stock.count(product="gold")
if not result.ok:
    print(f"{result.code}: {result.message} ({result.hint})")

fallback = tools.shop.stock.count(product="silver").unwrap_or({"on_shelf": 0})
print("fallback:", fallback["on_shelf"])

tools.shop.stock.count(product="bronze").unwrap()
