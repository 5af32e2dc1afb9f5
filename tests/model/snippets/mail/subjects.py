[m["subject"] for m in tools.mail.list().unwrap()]
