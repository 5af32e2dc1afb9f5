import asyncio
from pathlib import PurePosixPath

async def copy(entry):
    doc = (await tools.archive.fetch.start(path=entry["path"])).unwrap()
    target = f"backup/{PurePosixPath(entry['path']).name}"
    stored = await tools.archive.store.start(path=target, content=doc["content"], tags=entry["tags"])
    return stored.unwrap()["path"]

notes = tools.archive.entries(folder="notes").unwrap()
await asyncio.gather(*[copy(note) for note in notes])
