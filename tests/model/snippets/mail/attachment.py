def first_attachment():
    for folder in ("inbox", "archive"):
        for summary in tools.mail.list(folder=folder).unwrap():
            message = tools.mail.read(id=summary["id"]).unwrap()
            if message["attachments"]:
                return message["attachments"][0]
    return None

attachment = first_attachment()
attachment["content"].decode("utf-8") if attachment else None
