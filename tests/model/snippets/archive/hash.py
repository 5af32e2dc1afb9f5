import hashlib

doc = tools.archive.fetch(path="data/sales.csv").unwrap()
hashlib.sha256(doc["content"]).hexdigest() == doc["sha256"].lower()
