import asyncio
from decimal import Decimal, ROUND_HALF_UP

team = tools.staff.people(team="Engine").unwrap()
raises = {
    p["id"]: (p["salary"] * Decimal("0.03")).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
    for p in team
}
results = await asyncio.gather(
    *(tools.staff.raise_salary.start(person_id=pid, by=amount) for pid, amount in raises.items())
)
for before, result in zip(team, results):
    after = result.unwrap()
    print(f"{after['name']}: {before['salary']:,.2f} -> {after['salary']:,.2f}")

sum(raises.values(), Decimal(0))
