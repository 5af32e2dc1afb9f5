from collections import Counter

entries = tools.archive.entries().unwrap()
dict(Counter(e["tags"]["kind"] for e in entries if "kind" in e["tags"]))
