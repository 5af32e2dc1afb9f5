result = tools.mail.send(to=["nobody"], subject="Hi", body="Hi")
match result:
    case Ok(sent):
        answer = sent["accepted"]
    case Err(error):
        answer = [error.code, error.hint]
answer
