message = tools.mail.read(id=102).unwrap()
match message["attachments"]:
    case []:
        outcome = "message 102 has no attachment"
    case [first, *_]:
        outcome = tools.mail.send(
            to=["ben@birch.example"],
            subject="Scan",
            body="See attachment",
            attachment=first["content"],
        ).unwrap()

outcome
