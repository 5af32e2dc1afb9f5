tools.archive.store(
    path="tagged.txt",
    content="x".encode(),
    tags={"owner": "ana", "kind": "test"},
).unwrap()
