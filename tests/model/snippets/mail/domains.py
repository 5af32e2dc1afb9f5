sorted({m["from"].rpartition("@")[2].lower() for m in tools.mail.list().unwrap()})
