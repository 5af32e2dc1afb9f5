tools.archive.fetch(path="letters/ana.txt").unwrap()["content"].decode("utf-8")
