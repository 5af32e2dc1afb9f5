newest = max(e["modified"] for e in tools.archive.entries().unwrap())
f"{newest.day} {newest:%B %Y}"
