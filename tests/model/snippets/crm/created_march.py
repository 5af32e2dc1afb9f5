async def main():
    ids = []
    cursor = None
    while True:
        result = await tools.crm.contacts.start(cursor=cursor)
        page = result.unwrap()
        for contact in page["items"]:
            created = contact["created_at"]
            if (created.year, created.month) == (2026, 3):
                ids.append(contact["id"])
        cursor = page["next_cursor"]
        if cursor is None:
            return ids

await main()
