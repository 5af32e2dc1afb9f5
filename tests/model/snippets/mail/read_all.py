import asyncio

archived = tools.mail.list(folder="archive").unwrap()
tasks = {m["id"]: asyncio.create_task(tools.mail.read.start(id=m["id"])) for m in archived}
await asyncio.gather(*tasks.values())

{id: len(task.result().unwrap()["body"]) for id, task in tasks.items()}
