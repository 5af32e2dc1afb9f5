from dataclasses import dataclass
from datetime import datetime

@dataclass(order=True, frozen=True)
class Entry:
    created_at: datetime
    id: str

oldest: dict[str, Entry] = {}
cursor = None
while True:
    page = tools.crm.contacts(cursor=cursor).unwrap()
    for c in page["items"]:
        entry = Entry(c["created_at"], c["id"])
        if c["company"] not in oldest or entry < oldest[c["company"]]:
            oldest[c["company"]] = entry
    cursor = page["next_cursor"]
    if cursor is None:
        break

{company: entry.id for company, entry in oldest.items()}
