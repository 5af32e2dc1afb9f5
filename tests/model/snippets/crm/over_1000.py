deals = tools.crm.deals().unwrap()
large = sorted(
    (d for d in deals if d["amount"] > 1000),
    key=lambda d: d["amount"],
    reverse=True,
)
for d in large:
    print(f"{d['id']}  {d['amount']:>12,.2f}  {d['title']}")

[str(d["id"]) for d in large]
