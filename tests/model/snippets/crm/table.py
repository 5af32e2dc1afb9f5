vips = []
cursor = None
while True:
    page = tools.crm.contacts(tag="vip", cursor=cursor).unwrap()
    vips += page["items"]
    cursor = page["next_cursor"]
    if cursor is None:
        break

width = max((len(c["name"]) for c in vips), default=4)
print(f"{'Name':<{width}} | Company")
print(f"{'-' * width}-+-{'-' * 10}")
for c in vips:
    print(f"{c['name']:<{width}} | {c['company']}")

len(vips)
