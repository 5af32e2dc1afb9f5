unread = tools.mail.list(folder="inbox", unread=True).unwrap()
body = "\n".join(m["subject"] for m in unread)
tools.mail.send(to=["me@home.example"], subject="Unread", body=body).unwrap()
