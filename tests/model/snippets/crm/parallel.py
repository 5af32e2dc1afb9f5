import asyncio

ids = ["c1", "c4", "c7"]
async with asyncio.TaskGroup() as tg:
    tasks = [tg.create_task(tools.crm.contact.start(id=i)) for i in ids]

[t.result().unwrap()["email"] for t in tasks]
