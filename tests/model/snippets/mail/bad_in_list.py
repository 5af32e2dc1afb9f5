import asyncio

addresses = ["ana@acme.example", "broken", "ben@birch.example"]
results = await asyncio.gather(
    *[tools.mail.send.start(to=[a], subject="ping", body="ping") for a in addresses]
)
[a for a, r in zip(addresses, results, strict=True) if isinstance(r, Err)]
