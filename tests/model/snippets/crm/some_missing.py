import asyncio

names = []
for result in await asyncio.gather(*(tools.crm.contact.start(id=i) for i in ("c2", "c50", "c3"))):
    match result:
        case Ok({"name": name}):
            names.append(name)
        case Err(error) if error.code == "not_found":
            pass
        case Err(error):
            print(f"unexpected: {error.code} {error.message}")

names
