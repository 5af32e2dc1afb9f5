from dataclasses import dataclass
from decimal import Decimal

@dataclass
class Row:
    name: str
    team: str
    salary: Decimal

rows = [Row(p["name"], p["team"], p["salary"]) for p in tools.staff.people().unwrap()]
rows.sort(key=lambda r: r.salary, reverse=True)

name_width = max(len(r.name) for r in rows)
team_width = max(len(r.team) for r in rows)
print(f"{'Name':<{name_width}}  {'Team':<{team_width}}  {'Salary':>12}")
print("-" * (name_width + team_width + 16))
for r in rows:
    print(f"{r.name:<{name_width}}  {r.team:<{team_width}}  {r.salary:>12,.2f}")

rows[0].name
