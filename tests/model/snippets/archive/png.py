PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"

data = tools.archive.fetch(path="images/dot.png").unwrap()["content"]
[data[:8] == PNG_SIGNATURE, len(data)]
