[e["path"] for e in tools.archive.entries(folder="notes").unwrap()]
