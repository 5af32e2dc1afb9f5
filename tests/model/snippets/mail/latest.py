latest = max(tools.mail.list(folder="inbox").unwrap(), key=lambda m: m["sent_at"])
sent = latest["sent_at"]
[latest["from"], f"{sent.day} {sent:%B}"]
