hits = tools.archive.search(text="printer", limit=50).unwrap()
list(dict.fromkeys(hit["path"] for hit in hits))
