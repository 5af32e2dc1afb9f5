replied = []
for m in tools.mail.list(folder="inbox", unread=True).unwrap():
    if not m["subject"].startswith("Re:"):
        continue
    match tools.mail.send(to=[m["from"]], subject=m["subject"], body="Thanks.", reply_to=m["id"]):
        case Ok():
            replied.append(m["id"])
        case Err(error):
            print(f"Could not reply to {m['id']}: {error.message}")

replied
