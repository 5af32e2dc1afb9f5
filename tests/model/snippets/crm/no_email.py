def all_contacts(**filters):
    cursor = None
    while True:
        page = tools.crm.contacts(cursor=cursor, **filters).unwrap()
        yield from page["items"]
        cursor = page["next_cursor"]
        if not cursor:
            return

[c["id"] for c in all_contacts() if not c["email"]]
