[m["id"] for m in tools.mail.list(folder="inbox").unwrap() if "team@home.example" in m["to"]]
