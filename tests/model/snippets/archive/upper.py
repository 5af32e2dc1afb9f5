doc = tools.archive.fetch(path="letters/ana.txt").unwrap()
capitals = doc["content"].decode("utf-8").upper()
tools.archive.store(path=doc["path"], content=capitals.encode("utf-8")).unwrap()["size"]
