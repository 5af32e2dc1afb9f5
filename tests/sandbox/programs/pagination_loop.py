from typing import Any, Dict, Iterator, List, Optional

DATABASE = [{"id": i, "name": f"user{i:02d}", "active": i % 3 != 0} for i in range(1, 24)]


def fetch_page(cursor: Optional[str] = None, size: int = 5) -> Dict[str, Any]:
    """Pretend to be an API with cursors."""
    start = int(cursor) if cursor else 0
    items = DATABASE[start : start + size]
    following = start + size
    return {
        "items": items,
        "next_cursor": str(following) if following < len(DATABASE) else None,
        "total": len(DATABASE),
    }


def iterate() -> Iterator[Dict[str, Any]]:
    cursor = None
    while True:
        page = fetch_page(cursor)
        yield from page["items"]
        cursor = page.get("next_cursor")
        if not cursor:
            break


users: List[Dict[str, Any]] = list(iterate())
assert len(users) == fetch_page()["total"] == 23
active = [u["name"] for u in users if u["active"]]
assert len(active) == 16 and active[:3] == ["user01", "user02", "user04"]

pages = 0
cursor = "0"
collected = []
while cursor and (page := fetch_page(cursor, size=10)):
    pages += 1
    collected.extend(page["items"])
    cursor = page["next_cursor"]
    if pages > 100:
        raise RuntimeError("runaway loop")
assert pages == 3 and collected == users
"ok"
