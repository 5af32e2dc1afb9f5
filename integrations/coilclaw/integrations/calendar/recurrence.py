"""Recurrence rules (RRULE), expanded inside a window.

Rules are expanded on the wall clock; the zone is put on afterwards, so nine o'clock stays nine
o'clock when summer begins. A rule without COUNT is entered where the window begins, not where the
rule does, and every step is paid for out of a budget: the rules come from files, and a rule of
thirty characters can describe billions of occurrences, or look for a 30 February for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from coilclaw.integrations.calendar.values import Moment

__all__ = ["Budget", "Rule", "TooDense"]

_SECONDS = {"HOURLY": 3600, "MINUTELY": 60, "SECONDLY": 1}
_DAY = timedelta(days=1)


class TooDense(Exception):
    """Following a rule takes more steps than it may."""


class Budget:
    """How many steps may still be taken; `check` is called now and then and may raise."""

    def __init__(self, steps: int, check: Callable[[], None] = lambda: None, within: Budget | None = None) -> None:
        self._left = steps
        self._check = check
        self._within = within

    def spend(self, steps: int = 1) -> None:
        before, self._left = self._left, self._left - steps
        if self._left < 0:
            raise TooDense
        if before // 1024 != self._left // 1024:
            self._check()
        if self._within is not None:
            self._within.spend(steps)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A parsed RRULE. Empty tuples mean that the part was not given."""

    frequency: str
    interval: int = 1
    count: int | None = None
    until: Moment | None = None
    seconds: tuple[int, ...] = ()
    minutes: tuple[int, ...] = ()
    hours: tuple[int, ...] = ()
    weekdays: tuple[tuple[int, int], ...] = ()
    """Pairs of a position (0 for every one) and a weekday (0 is Monday)."""
    month_days: tuple[int, ...] = ()
    year_days: tuple[int, ...] = ()
    weeks: tuple[int, ...] = ()
    months: tuple[int, ...] = ()
    positions: tuple[int, ...] = ()
    week_start: int = 0

    def between(self, start: datetime, lowest: datetime, highest: datetime, budget: Budget) -> Iterator[datetime]:
        """The wall-clock times of the rule from `lowest` to `highest`, in order; `start` is DTSTART."""
        rule = self._completed(start)
        left = rule.count
        first = lowest if left is None else start
        for found in rule._all(start, max(first, start), highest, budget):
            if found < start:
                continue
            if left is not None:
                if left == 0:
                    return
                left -= 1
            if found > highest:
                return
            if found >= lowest:
                yield found

    def _completed(self, start: datetime) -> Rule:
        """With what the rule leaves open taken from its start."""
        rule = replace(
            self,
            seconds=self.seconds or (() if self.frequency == "SECONDLY" else (start.second,)),
            minutes=self.minutes or (() if self.frequency in ("MINUTELY", "SECONDLY") else (start.minute,)),
            hours=self.hours or (() if self.frequency in _SECONDS else (start.hour,)),
        )
        if self.weekdays or self.month_days or self.year_days:
            return rule
        if self.frequency == "WEEKLY" or (self.frequency == "YEARLY" and self.weeks):
            return replace(rule, weekdays=((0, start.weekday()),))
        if self.frequency == "MONTHLY":
            return replace(rule, month_days=(start.day,))
        if self.frequency == "YEARLY":
            return replace(rule, months=self.months or (start.month,), month_days=(start.day,))
        return rule

    def _all(self, start: datetime, first: datetime, highest: datetime, budget: Budget) -> Iterator[datetime]:
        if self.frequency in _SECONDS:
            yield from self._within_days(start, first, highest, budget)
            return
        times = len(self.hours) * len(self.minutes) * len(self.seconds)
        for days in self._periods(start.date(), first.date(), highest.date(), budget):
            if self.positions:
                chosen = {p - 1 if p > 0 else len(days) * times + p for p in self.positions}
                for index in sorted(each for each in chosen if 0 <= each < len(days) * times):
                    budget.spend()
                    yield self._time(days[index // times], index % times)
                continue
            for day in days:
                if self.count is None and day < first.date():
                    continue
                for index in range(times):
                    budget.spend()
                    yield self._time(day, index)

    def _time(self, day: date, index: int) -> datetime:
        index, second = divmod(index, len(self.seconds))
        hour, minute = divmod(index, len(self.minutes))
        at = (self.hours[hour], self.minutes[minute], min(self.seconds[second], 59))
        return datetime(day.year, day.month, day.day, *at)  # noqa: DTZ001

    # Years, months, weeks and days ---------------------------------------------------------------------

    def _periods(self, start: date, first: date, last: date, budget: Budget) -> Iterator[list[date]]:
        """The days the rule picks in each of its periods, from the one that holds `first` on."""
        number = max(0, self._period_of(start, first) // self.interval)
        while True:
            bounds = self._bounds(start, number * self.interval)
            if bounds is None or bounds[0] > last:
                return
            days = []
            # Ordinals, because the day after the last one of all cannot be written as a date.
            ordinal, end = bounds[0].toordinal(), bounds[1].toordinal()
            budget.spend()
            while ordinal <= end:
                day = date.fromordinal(ordinal)
                if self.months and day.month not in self.months:
                    ordinal += _month_length(day) - day.day + 1
                    continue
                budget.spend()
                if self._has(day):
                    days.append(day)
                ordinal += 1
            yield days
            number += 1

    def _period_of(self, start: date, day: date) -> int:
        """How many periods after the one of `start` the day is in, the interval not counted."""
        match self.frequency:
            case "YEARLY":
                return day.year - start.year
            case "MONTHLY":
                return (day.year - start.year) * 12 + day.month - start.month
            case "WEEKLY":
                return (day.toordinal() - self._week_of(start).toordinal()) // 7
        return day.toordinal() - start.toordinal()

    def _bounds(self, start: date, number: int) -> tuple[date, date] | None:
        """The first and the last day of a period, or None after the end of all calendars."""
        try:
            match self.frequency:
                case "YEARLY":
                    return date(start.year + number, 1, 1), date(start.year + number, 12, 31)
                case "MONTHLY":
                    years, month = divmod(start.month - 1 + number, 12)
                    begin = date(start.year + years, month + 1, 1)
                    return begin, begin.replace(day=_month_length(begin))
                case "WEEKLY":
                    begin = self._week_of(start) + timedelta(weeks=number)
                    return begin, date.fromordinal(min(date.max.toordinal(), begin.toordinal() + 6))
            begin = start + timedelta(days=number)
            return begin, begin
        except (ValueError, OverflowError):
            return None

    def _week_of(self, day: date) -> date:
        return date.fromordinal(max(1, day.toordinal() - (day.weekday() - self.week_start) % 7))

    def _has(self, day: date) -> bool:
        """Whether the parts of the rule that speak of days let this one through."""
        if self.months and day.month not in self.months:
            return False
        if self.month_days and not _counted(day.day, _month_length(day), self.month_days):
            return False
        if self.year_days and not _counted(_day_of_year(day), _year_length(day), self.year_days):
            return False
        if self.weeks and not self._in_week(day):
            return False
        return not self.weekdays or self._on_weekday(day)

    def _on_weekday(self, day: date) -> bool:
        for position, weekday in self.weekdays:
            if weekday != day.weekday():
                continue
            if position == 0 or self.frequency not in ("YEARLY", "MONTHLY"):
                return True
            if self.frequency == "MONTHLY" or self.months:
                before, length = day.day, _month_length(day)
            else:
                before, length = _day_of_year(day), _year_length(day)
            if position in ((before - 1) // 7 + 1, -((length - before) // 7 + 1)):
                return True
        return False

    def _in_week(self, day: date) -> bool:
        year, number = self._week_number(day)
        last = self._week_number(date(year, 12, 28))[1]
        return number in self.weeks or number - last - 1 in self.weeks

    def _week_number(self, day: date) -> tuple[int, int]:
        """A week belongs to the year that holds its fourth day."""
        middle = date.fromordinal(min(date.max.toordinal(), self._week_of(day).toordinal() + 3))
        return middle.year, (_day_of_year(middle) - 1) // 7 + 1

    # Hours, minutes and seconds ------------------------------------------------------------------------

    def _within_days(self, start: datetime, first: datetime, highest: datetime, budget: Budget) -> Iterator[datetime]:
        step = _SECONDS[self.frequency] * self.interval
        width = {"HOURLY": 3600, "MINUTELY": 60, "SECONDLY": 1}[self.frequency]
        base = start - timedelta(seconds=_into_day(start) % width)
        number = max(0, int((first - base).total_seconds()) // step)
        while True:
            budget.spend()
            try:
                at = base + timedelta(seconds=number * step)
            except OverflowError:
                return
            if at > highest:
                return
            if not self._has(at.date()):
                number = max(number + 1, -(-int((_midnight_after(at) - base).total_seconds()) // step))
                continue
            number += 1
            if self.hours and at.hour not in self.hours:
                continue
            if width < 3600 and self.minutes and at.minute not in self.minutes:
                continue
            if width == 1 and self.seconds and at.second not in self.seconds:
                continue
            yield from self._inside(at, width, budget)

    def _inside(self, at: datetime, width: int, budget: Budget) -> Iterator[datetime]:
        """The times of one hour, minute or second."""
        minutes = self.minutes if width == 3600 else (at.minute,)
        seconds = self.seconds if width >= 60 else (at.second,)
        total = len(minutes) * len(seconds)
        chosen = range(total)
        if self.positions:
            places = {p - 1 if p > 0 else total + p for p in self.positions}
            chosen = sorted(each for each in places if 0 <= each < total)  # type: ignore[assignment]
        for index in chosen:
            budget.spend()
            minute, second = divmod(index, len(seconds))
            yield at.replace(minute=minutes[minute], second=min(seconds[second], 59))


def _next_month(day: date) -> date:
    return date(day.year + day.month // 12, day.month % 12 + 1, 1)


def _month_length(day: date) -> int:
    return 31 if day.month == 12 else (_next_month(day) - day.replace(day=1)).days


def _day_of_year(day: date) -> int:
    return day.toordinal() - date(day.year, 1, 1).toordinal() + 1


def _year_length(day: date) -> int:
    return _day_of_year(date(day.year, 12, 31))


def _counted(number: int, length: int, chosen: tuple[int, ...]) -> bool:
    """Whether a number is chosen, counted from the beginning or from the end."""
    return number in chosen or number - length - 1 in chosen


def _into_day(moment: datetime) -> int:
    return moment.hour * 3600 + moment.minute * 60 + moment.second


def _midnight_after(moment: datetime) -> datetime:
    try:
        return datetime(moment.year, moment.month, moment.day) + _DAY  # noqa: DTZ001
    except OverflowError:
        return datetime(9999, 12, 31, 23, 59, 59)  # noqa: DTZ001
