stored = tools.archive.store(path="summary.txt", content=b"three notes").unwrap()
print(f"Stored {stored['path']}: version {stored['version']}, {stored['size']} bytes")
[stored["version"], stored["size"]]
