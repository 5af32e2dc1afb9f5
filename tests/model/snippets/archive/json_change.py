import json

path = "data/config.json"
config = json.loads(tools.archive.fetch(path=path).unwrap()["content"])
config["debug"] = True
config["hosts"].append("c.example")

tags = next((e["tags"] for e in tools.archive.entries().unwrap() if e["path"] == path), None)
stored = tools.archive.store(
    path=path,
    content=json.dumps(config, ensure_ascii=False).encode("utf-8"),
    tags=tags,
).unwrap()
stored["version"]
