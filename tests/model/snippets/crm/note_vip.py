written = 0
cursor = None

while True:
    page = tools.crm.contacts(tag="vip", cursor=cursor).unwrap()
    for contact in page["items"]:
        match tools.crm.add_note(contact_id=contact["id"], text="Season greetings"):
            case Ok(_):
                written += 1
            case Err(error):
                print(f"{contact['name']}: {error.code} – {error.message}")
    cursor = page["next_cursor"]
    if cursor is None:
        break

written
