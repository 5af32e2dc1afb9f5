import json

PAYLOAD = """
{
  "results": [
    {"id": 3, "user": {"name": "Ada", "emails": ["ada@x.org"]}, "scores": [9, 8.5, null]},
    {"id": 1, "user": {"name": "Lin", "emails": []}, "scores": []},
    {"id": 2, "user": null, "scores": [4]}
  ],
  "next": null,
  "ok": true
}
"""


def dig(data, path, default=None):
    """Follow a dotted path through dicts and lists."""
    for part in path.split("."):
        try:
            data = data[int(part)] if isinstance(data, list) else data[part]
        except (KeyError, IndexError, TypeError, ValueError):
            return default
    return data


data = json.loads(PAYLOAD)
rows = []
for entry in sorted(data["results"], key=lambda e: e["id"]):
    scores = [s for s in entry["scores"] if s is not None]
    rows.append(
        {
            "id": entry["id"],
            "name": (entry.get("user") or {}).get("name", "unknown"),
            "email": dig(entry, "user.emails.0", "n/a"),
            "mean": round(sum(scores) / len(scores), 2) if scores else None,
        }
    )
assert rows[0] == {"id": 1, "name": "Lin", "email": "n/a", "mean": None}
assert rows[1]["name"] == "unknown" and rows[2]["mean"] == 8.75
print(json.dumps(rows, indent=2, ensure_ascii=False))
assert json.dumps(rows[1], separators=(",", ":")) == '{"id":2,"name":"unknown","email":"n/a","mean":4.0}'
assert json.loads(json.dumps(rows)) == rows and data["next"] is None and data["ok"] is True
"ok"
