from itertools import groupby
from operator import itemgetter

messages = [m for folder in ("inbox", "archive") for m in tools.mail.list(folder=folder).unwrap()]
by_sender = {
    sender: list(group)
    for sender, group in groupby(sorted(messages, key=itemgetter("from")), key=itemgetter("from"))
}
sorted(sender for sender, group in by_sender.items() if len(group) > 2)
