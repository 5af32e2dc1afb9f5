from datetime import date

inbox = tools.mail.list(folder="inbox").unwrap()
[m["id"] for m in inbox if m["sent_at"].date() > date(2026, 11, 7)]
