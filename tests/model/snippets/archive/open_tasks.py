import asyncio

notes = tools.archive.entries(folder="notes").unwrap()
documents = await asyncio.gather(*[tools.archive.fetch.start(path=n["path"]) for n in notes])

open_tasks = []
for document in documents:
    for line in document.unwrap()["content"].decode("utf-8").splitlines():
        line = line.strip()
        if line.startswith("- [ ] "):
            open_tasks.append(line.removeprefix("- [ ] "))

open_tasks
