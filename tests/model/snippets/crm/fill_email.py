contacts = []
cursor = None
while True:
    page = tools.crm.contacts(company="Birch", cursor=cursor).unwrap()
    contacts.extend(page["items"])
    cursor = page["next_cursor"]
    if not cursor:
        break

new_addresses = []
for contact in contacts:
    if contact["email"]:
        continue
    first_name = contact["name"].split()[0].lower()
    updated = tools.crm.update_contact(
        id=contact["id"],
        changes={"email": f"{first_name}@birch.example"},
    ).unwrap()
    new_addresses.append(updated["email"])

new_addresses
