from datetime import date

def age_on(birthday: date, day: date) -> int:
    return day.year - birthday.year - ((day.month, day.day) < (birthday.month, birthday.day))

day = date(2026, 11, 18)
{p["name"]: age_on(p["birthday"], day) for p in tools.staff.people().unwrap()}
