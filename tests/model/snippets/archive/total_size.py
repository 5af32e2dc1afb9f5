entries = tools.archive.entries().unwrap()
sum(entry["size"] for entry in entries)
