from collections import defaultdict
from decimal import Decimal, ROUND_HALF_UP
from statistics import mean

by_team = defaultdict(list)
for person in tools.staff.people().unwrap():
    by_team[person["team"]].append(person["salary"])

{
    team: mean(salaries).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
    for team, salaries in sorted(by_team.items())
}
