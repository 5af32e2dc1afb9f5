sent = tools.mail.send(
    to=["ana@acme.example"],
    subject="Friday",
    body="See you at 12:30.",
).unwrap()
sent["accepted"]
