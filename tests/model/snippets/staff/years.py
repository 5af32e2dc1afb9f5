from datetime import date

today = date(2026, 11, 18)
cutoff = today.replace(year=today.year - 5)
[p["name"] for p in tools.staff.people().unwrap() if p["started_on"] < cutoff]
