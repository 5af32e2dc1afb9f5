content = tools.archive.fetch(path="letters/ümlaut.txt").unwrap()["content"]
[len(content.decode()), len(content)]
