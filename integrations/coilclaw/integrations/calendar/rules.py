"""Which recurrence rules are followed.

Files come from anywhere, and `dateutil`, which follows the rules, can neither be interrupted nor told where to stop:
looking for a 30 February it goes on to the year 9999. So a rule is judged before it is followed. What passes takes
dateutil two seconds at worst; what is refused is named, and hardly any calendar program writes it.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from icalendar import vRecur

__all__ = ["MOST_STEPS", "check_rule"]

MOST_STEPS = 160_000  # Every day since 1604, where Apple begins birthdays of an unknown year.
_MOST_VALUES = {"BYSETPOS": 5, "BYMINUTE": 60}
_LARGEST = {"COUNT": 1_000_000, "INTERVAL": 10_000}
_PARTS = {
    "DAILY": {"BYDAY", "BYMONTH"},
    "WEEKLY": {"BYDAY", "BYMONTH"},
    "MONTHLY": {"BYDAY", "BYMONTH", "BYMONTHDAY", "BYSETPOS"},
    "YEARLY": {"BYDAY", "BYMONTH", "BYMONTHDAY", "BYSETPOS", "BYWEEKNO", "BYYEARDAY"},
}
_ALWAYS = {"FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYHOUR", "BYMINUTE"}


def check_rule(rule: vRecur, start: date, last: date, most: int = MOST_STEPS) -> None:
    """Raise `ValueError` for a rule that is not followed from `start` to `last`."""
    frequency = str(rule["FREQ"][0]).upper()
    if frequency not in _PARTS:
        raise ValueError(f"it repeats {frequency}, and only {', '.join(_PARTS)} are followed")
    for name, largest in _LARGEST.items():
        if not 1 <= int(rule.get(name, [1])[0]) <= largest:
            raise ValueError(f"its {name} is not between 1 and {largest}")
    interval = int(rule.get("INTERVAL", [1])[0])
    # With an interval, such parts may never be met: every seventh day from a Monday is never a Tuesday.
    unmet = {"DAILY": {"BYDAY", "BYMONTH"}, "WEEKLY": {"BYMONTH"}}.get(frequency, set()) if interval > 1 else set()
    if odd := {name.upper() for name in rule} - _ALWAYS - (_PARTS[frequency] - unmet):
        raise ValueError(f"{', '.join(sorted(odd))[:40]} with FREQ={frequency};INTERVAL={interval} is not followed")
    if any(len(values) > _MOST_VALUES.get(name, 35) for name, values in rule.items()):
        raise ValueError("it is too long")
    # Here dateutil finds other days than RFC 5545.
    numbered = {str(day)[-3:-2].isdigit() for day in rule.get("BYDAY", [])}
    if len(numbered) > 1 or ("BYWEEKNO" in rule and not numbered):
        raise ValueError("weekdays with and without a number, or weeks without weekdays, are not followed")
    if "COUNT" in rule and "UNTIL" in rule:
        raise ValueError("COUNT and UNTIL exclude each other")
    times = len(rule.get("BYHOUR", [0])) * len(rule.get("BYMINUTE", [0]))
    days = last.toordinal() - start.toordinal()
    if days * times // (interval if frequency == "DAILY" else 1) > most:
        raise ValueError("it repeats too often to be followed")
