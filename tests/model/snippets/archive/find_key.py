[e["path"] for e in tools.archive.entries().unwrap() if "csv" in e["keys"]]
