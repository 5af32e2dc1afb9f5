match tools.mail.list(folder="inbox", unread=True):
    case Ok(messages):
        count = len(messages)
    case Err(error):
        raise RuntimeError(f"{error.code}: {error.message}")

count
