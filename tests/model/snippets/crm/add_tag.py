import asyncio

async def add_tag(contact_id: str, tag: str) -> list[str]:
    contact = (await tools.crm.contact.start(id=contact_id)).unwrap()
    tags = contact["tags"]
    if tag in tags:
        return tags
    updated = (await tools.crm.update_contact.start(id=contact_id, changes={"tags": [*tags, tag]})).unwrap()
    return updated["tags"]

ids = ["c3", "c6"]
tags = await asyncio.gather(*[add_tag(i, "lead") for i in ids])
dict(zip(ids, tags))
