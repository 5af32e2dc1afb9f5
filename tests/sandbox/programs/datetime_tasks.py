from datetime import date, datetime, time, timedelta, timezone


def days_between(a: str, b: str, fmt: str = "%Y-%m-%d") -> int:
    return abs((datetime.strptime(b, fmt) - datetime.strptime(a, fmt)).days)


def next_weekday(start: date, weekday: int) -> date:
    ahead = (weekday - start.weekday()) % 7 or 7
    return start + timedelta(days=ahead)


def age(born: date, today: date) -> int:
    return today.year - born.year - ((today.month, today.day) < (born.month, born.day))


def humanize(delta: timedelta) -> str:
    minutes, seconds = divmod(int(delta.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{seconds:02d}"


assert days_between("2024-02-28", "2024-03-01") == 2
assert next_weekday(date(2024, 5, 17), 4) == date(2024, 5, 24)
assert age(date(1990, 6, 15), date(2024, 6, 14)) == 33
assert humanize(timedelta(hours=2, seconds=75)) == "02:01:15"
moment = datetime(2024, 3, 10, 14, 5, 9, tzinfo=timezone.utc)
assert moment.isoformat() == "2024-03-10T14:05:09+00:00"
assert moment.astimezone(timezone(timedelta(hours=-5))).hour == 9
assert moment.strftime("%d/%m/%y %H:%M %j") == "10/03/24 14:05 070"
assert datetime.fromisoformat("2024-03-10T14:05:09+00:00") == moment
assert datetime.fromtimestamp(0, tz=timezone.utc).year == 1970 and moment.timestamp() == 1710079509.0
assert f"{moment:%Y-%m}" == "2024-03" and moment.replace(day=1).date() == date(2024, 3, 1)
assert datetime.combine(date(2024, 1, 1), time(9, 30)).isoformat(sep=" ", timespec="minutes") == "2024-01-01 09:30"
assert (date(2024, 12, 31) - date(2024, 1, 1)) / timedelta(days=1) == 365.0
assert isinstance(datetime.now(), datetime) and date.today() >= date(2024, 1, 1)
"ok"
