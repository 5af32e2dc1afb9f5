try:
    outcome = tools.mail.read(id=999).unwrap()
except ToolCallError as error:
    outcome = error.code

outcome
