import asyncio
import re

async def read(path: str) -> str:
    result = await tools.archive.fetch.start(path=path)
    return result.unwrap()["content"].decode()

async def main() -> float:
    notes = tools.archive.entries(folder="notes").unwrap()
    texts = await asyncio.gather(*(read(n["path"]) for n in notes))
    marks = [m for t in texts for m in re.findall(r"^\s*- \[([ xX])\]", t, flags=re.MULTILINE)]
    done = sum(mark in "xX" for mark in marks)
    return round(done / len(marks), 3) if marks else 0.0

await main()
