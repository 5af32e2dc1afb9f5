from operator import itemgetter

contacts, cursor = [], None
while True:
    page = tools.crm.contacts(cursor=cursor).unwrap()
    contacts += page["items"]
    if not (cursor := page["next_cursor"]):
        break

max(contacts, key=itemgetter("created_at"))["name"]
