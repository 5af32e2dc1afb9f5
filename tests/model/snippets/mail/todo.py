import asyncio
import re
from collections import defaultdict

inbox, archive = await asyncio.gather(
    tools.mail.list.start(folder="inbox"),
    tools.mail.list.start(folder="archive"),
)
ids = [m["id"] for m in inbox.unwrap() + archive.unwrap()]
messages = await asyncio.gather(*[tools.mail.read.start(id=i) for i in ids])

todos = defaultdict(list)
for result in messages:
    body = result.unwrap()["body"]
    for name, task in re.findall(r"^TODO\s+([^:\n]+):\s*(.+?)\s*$", body, flags=re.MULTILINE):
        todos[name.strip()].append(task)

dict(todos)
