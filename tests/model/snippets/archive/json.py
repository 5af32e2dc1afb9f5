import json

config = json.loads(tools.archive.fetch(path="data/config.json").unwrap()["content"])
len(config["hosts"])
