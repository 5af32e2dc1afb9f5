import asyncio

deals = tools.crm.deals(stage="won").unwrap()
deals.sort(key=lambda d: d["closes_on"])

results = await asyncio.gather(*[tools.crm.contact.start(id=d["contact_id"]) for d in deals])
[[deal["title"], result.unwrap()["name"]] for deal, result in zip(deals, results)]
