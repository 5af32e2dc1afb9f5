import asyncio

words = ["printer", "train", "invoice"]

async with asyncio.TaskGroup() as group:
    tasks = {w: group.create_task(tools.archive.search.start(text=w, limit=50)) for w in words}

{word: len(task.result().unwrap()) for word, task in tasks.items()}
