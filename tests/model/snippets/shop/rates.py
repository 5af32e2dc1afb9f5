import asyncio

currencies = ["USD", "GBP", "CHF", "JPY"]
results = await asyncio.gather(*[tools.shop.rate.start(currency=c) for c in currencies])

rates = {}
for currency, result in zip(currencies, results):
    match result:
        case Ok(rate):
            rates[currency] = rate
        case Err(error):
            print(f"No rate for {currency}: {error.message}")

rates
