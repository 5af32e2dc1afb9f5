from datetime import datetime, timezone

cutoff = datetime(2026, 11, 5, tzinfo=timezone.utc)
moved = []
for message in tools.mail.list(folder="inbox").unwrap():
    if message["sent_at"] < cutoff:
        tools.mail.move(id=message["id"], folder="archive").unwrap()
        moved.append(message["id"])

print(f"Moved {len(moved)} messages to the archive.")
moved
