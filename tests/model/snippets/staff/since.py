from datetime import date

start = date(2026, 11, 1)
len([a for a in tools.staff.absences(since=start).unwrap() if a["from"] >= start])
