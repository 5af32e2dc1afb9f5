import calendar
from datetime import date, datetime, timedelta
from typing import Iterator


def daterange(start: date, end: date, step: int = 1) -> Iterator[date]:
    while start <= end:
        yield start
        start += timedelta(days=step)


def add_months(d: date, months: int) -> date:
    index = d.month - 1 + months
    year, month = d.year + index // 12, index % 12 + 1
    return d.replace(year=year, month=month, day=min(d.day, calendar.monthrange(year, month)[1]))


def parse_any(text: str) -> date:
    for fmt in ("%Y-%m-%d", "%d.%m.%Y", "%B %d, %Y", "%d %b %Y"):
        try:
            return datetime.strptime(text, fmt).date()
        except ValueError:
            pass
    raise ValueError(f"no known format: {text!r}")


assert add_months(date(2024, 1, 31), 1) == date(2024, 2, 29) and add_months(date(2024, 11, 30), 3) == date(2025, 2, 28)
assert {parse_any(t) for t in ("2024-07-04", "04.07.2024", "July 04, 2024", "4 Jul 2024")} == {date(2024, 7, 4)}
try:
    parse_any("soon")
except ValueError as e:
    assert "soon" in str(e)
weekends = [d for d in daterange(date(2024, 6, 1), date(2024, 6, 30)) if d.weekday() >= 5]
assert len(weekends) == 10 and weekends[0].strftime("%A") == "Saturday"
fridays13 = [date(2026, m, 13) for m in range(1, 13) if date(2026, m, 13).isoweekday() == 5]
assert [d.month for d in fridays13] == [2, 3, 11]
assert calendar.isleap(2000) and not calendar.isleap(1900) and calendar.month_name[5] == "May"
assert date(2024, 12, 30).isocalendar()[1] == 1 and date(2024, 1, 1).toordinal() == 738886
assert calendar.monthcalendar(2024, 2)[0] == [0, 0, 0, 1, 2, 3, 4]
assert (date(2024, 3, 1) - timedelta(weeks=1)).day == 23 and timedelta(minutes=90) == timedelta(hours=1.5)
assert str(timedelta(days=1, seconds=3661)) == "1 day, 1:01:01"
"ok"
