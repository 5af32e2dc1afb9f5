import asyncio

spam = [m for m in tools.mail.list(folder="inbox").unwrap() if m["from"].endswith("@prize.example")]
results = await asyncio.gather(*[tools.mail.move.start(id=m["id"], folder="spam") for m in spam])
for r in results:
    r.unwrap()

len(results)
