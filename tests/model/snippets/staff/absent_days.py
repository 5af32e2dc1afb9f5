import asyncio
from collections import defaultdict

people_result, absences_result = await asyncio.gather(
    tools.staff.people.start(),
    tools.staff.absences.start(),
)
names = {p["id"]: p["name"] for p in people_result.unwrap()}

days = defaultdict(int)
for absence in absences_result.unwrap():
    days[names[absence["person_id"]]] += (absence["to"] - absence["from"]).days + 1

dict(days)
