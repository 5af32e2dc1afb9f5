from collections import Counter

counts = Counter()
page = tools.crm.contacts().unwrap()
while True:
    counts.update(contact["company"] for contact in page["items"])
    if page["next_cursor"] is None:
        break
    page = tools.crm.contacts(cursor=page["next_cursor"]).unwrap()

dict(counts)
