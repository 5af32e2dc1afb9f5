from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo


def working_days(start: date, end: date, holidays: set[date] = frozenset()) -> int:
    days = (start + timedelta(days=n) for n in range((end - start).days + 1))
    return sum(day.weekday() < 5 and day not in holidays for day in days)


def meeting(local: str, zone: str, others: list[str]) -> dict[str, str]:
    when = datetime.fromisoformat(local).replace(tzinfo=ZoneInfo(zone))
    return {other: when.astimezone(ZoneInfo(other)).strftime("%a %H:%M") for other in others}


assert working_days(date(2024, 2, 26), date(2024, 3, 3)) == 5
assert working_days(date(2024, 12, 23), date(2024, 12, 31), {date(2024, 12, 25), date(2024, 12, 26)}) == 5
assert meeting("2024-03-20T17:30", "America/New_York", ["Europe/Paris", "Asia/Kolkata"]) == {
    "Europe/Paris": "Wed 22:30",
    "Asia/Kolkata": "Thu 03:00",
}

"ok"
