from datetime import timezone

ids = []
for message in tools.mail.list(folder="inbox").unwrap():
    if message["sent_at"].astimezone(timezone.utc).hour < 10:
        ids.append(message["id"])
ids
