names = []
cursor = None
while True:
    page = tools.crm.contacts(cursor=cursor).unwrap()
    names.extend(c["name"] for c in page["items"])
    cursor = page["next_cursor"]
    if cursor is None:
        break

sorted(names)
