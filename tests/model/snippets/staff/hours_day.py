from collections import defaultdict
from datetime import date, datetime, timedelta

day = date(2026, 11, 16)
names = {p["id"]: p["name"] for p in tools.staff.people().unwrap()}

hours = defaultdict(float)
for shift in tools.staff.shifts(day=day).unwrap():
    start = datetime.combine(shift["day"], shift["starts"])
    end = datetime.combine(shift["day"], shift["ends"])
    if end < start:  # over midnight
        end += timedelta(days=1)
    worked = end - start - shift["pause"]
    hours[names[shift["person_id"]]] += worked / timedelta(hours=1)

dict(hours)
