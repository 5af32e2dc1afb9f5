import asyncio

addresses = ["ana@acme.example", "ben@birch.example", "cleo@corvid.example"]

async def greet(address: str):
    name = address.split("@")[0].capitalize()
    result = await tools.mail.send.start(to=[address], subject="News", body=f"Hello {name}")
    return result.unwrap()

async with asyncio.TaskGroup() as group:
    tasks = [group.create_task(greet(a)) for a in addresses]

[task.result()["message_id"] for task in tasks]
