total = 0
for entry in tools.archive.entries().unwrap():
    total += int(entry["tags"].get("items", 0))
total
