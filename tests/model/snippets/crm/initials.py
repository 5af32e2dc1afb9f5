def contacts_of(company):
    page = tools.crm.contacts(company=company).unwrap()
    items = list(page["items"])
    while page["next_cursor"]:
        page = tools.crm.contacts(company=company, cursor=page["next_cursor"]).unwrap()
        items.extend(page["items"])
    return items

sorted("".join(part[0].upper() for part in c["name"].split()) for c in contacts_of("Corvid"))
