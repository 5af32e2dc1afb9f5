import asyncio
from datetime import date, datetime, timedelta

days = [date(2026, 11, d) for d in (16, 17, 18)]
results = await asyncio.gather(*[tools.staff.shifts.start(day=day) for day in days])

total = timedelta()
for result in results:
    for s in result.unwrap():
        start = datetime.combine(s["day"], s["starts"])
        end = datetime.combine(s["day"], s["ends"])
        if end <= start:
            end += timedelta(days=1)
        total += end - start - s["pause"]

total.total_seconds() / 3600
