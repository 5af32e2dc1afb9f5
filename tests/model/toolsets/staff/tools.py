"""People of a company, their absences and shifts."""

import datetime as dt
import decimal
import json
import uuid
from enum import Enum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from coilclaw.sdk import ToolContext, ToolFailure, define_tool


class Kind(Enum):
    holiday = "holiday"
    sick = "sick"
    parental = "parental"


class Person(BaseModel):
    id: uuid.UUID
    name: str
    team: str
    manager_id: uuid.UUID | None
    birthday: dt.date
    started_on: dt.date
    salary: decimal.Decimal = Field(description="A year, in EUR.")


class Absence(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    person_id: uuid.UUID
    start: dt.date = Field(alias="from")
    end: dt.date = Field(alias="to", description="The last day.")
    kind: Kind


class Shift(BaseModel):
    person_id: uuid.UUID
    day: dt.date
    starts: dt.time
    ends: dt.time
    pause: dt.timedelta


def _id(number: int) -> uuid.UUID:
    return uuid.UUID(int=0xFACE << 80 | number)


_NAMES = ["Mara Quist", "Nils Ode", "Olga Petit", "Piet Roos", "Quim Sala", "Rosa Tull", "Sami Udo", "Tess Vane"]
PEOPLE = [
    Person(
        id=_id(number),
        name=name,
        team=["Design", "Engine", "Engine", "Sales"][number % 4],
        manager_id=None if number == 0 else _id((number - 1) // 2),
        birthday=dt.date(1980 + number * 2, 1 + number * 5 % 12, 4 + number * 3),
        started_on=dt.date(2016 + number, 2 + number, 1),
        salary=decimal.Decimal(52_000 + 3_750 * ((number * 3) % 8)) + decimal.Decimal("0.50") * (number % 2),
    )
    for number, name in enumerate(_NAMES)
]
ABSENCES = [
    Absence(
        person_id=_id(number % 5), start=start, end=start + dt.timedelta(days=number % 4), kind=list(Kind)[number % 3]
    )
    for number, start in enumerate(dt.date(2026, 10, 1) + dt.timedelta(days=6 * n) for n in range(10))
]
SHIFTS = [
    Shift(
        person_id=_id(number % 4),
        day=dt.date(2026, 11, 16) + dt.timedelta(days=number // 4),
        starts=dt.time(7 + number % 3, 30),
        ends=dt.time(15 + number % 3, 45),
        pause=dt.timedelta(minutes=[30, 45][number % 2]),
    )
    for number in range(12)
]


def _leave(ctx: ToolContext, effect: str, **facts: Any) -> None:
    with (ctx.workspace / "effects.jsonl").open("a") as file:
        file.write(json.dumps([effect, facts], sort_keys=True) + "\n")


@define_tool(id="staff.people", risk="read", summary="Listed people")
def people(ctx: ToolContext, team: str | None = None) -> list[Person]:
    """People, of one team or of all."""
    return [p for p in PEOPLE if team in (None, p.team)]


@define_tool(id="staff.absences", risk="read", summary="Listed absences")
def absences(
    ctx: ToolContext, person_id: uuid.UUID | None = None, kind: Kind | None = None, since: dt.date | None = None
) -> list[Absence]:
    """Absences, by their first day."""
    return [
        a
        for a in ABSENCES
        if person_id in (None, a.person_id) and kind in (None, a.kind) and (since is None or a.start >= since)
    ]


@define_tool(id="staff.shifts", risk="read", summary="Listed the shifts of {day}")
def shifts(ctx: ToolContext, day: dt.date) -> list[Shift]:
    """Who works when on a day. Fails with `not_planned` for days without a plan."""
    if found := [s for s in SHIFTS if s.day == day]:
        return found
    raise ToolFailure(
        f"nothing is planned for {day}", code="not_planned", hint="Plans exist for 16 to 18 November 2026."
    )


@define_tool(id="staff.request_absence", risk="write", summary="Asked for days off")
def request_absence(ctx: ToolContext, absence: Absence, comment: str | None = None) -> int:
    """Ask for days off; gives how many days these are. Fails with `overlap` if the person is away already."""
    for other in ABSENCES:
        if other.person_id == absence.person_id and other.start <= absence.end and absence.start <= other.end:
            raise ToolFailure(f"away from {other.start} to {other.end} already", code="overlap")
    _leave(ctx, "staff.request_absence", **json.loads(absence.model_dump_json(by_alias=True)))
    return (absence.end - absence.start).days + 1


@define_tool(id="staff.raise_salary", risk="write", summary="Raised a salary")
def raise_salary(
    ctx: ToolContext,
    person_id: uuid.UUID,
    by: decimal.Decimal = Field(gt=0, le=10_000),
    starting: dt.date | None = None,
) -> Person:
    """Raise what a person earns in a year."""
    for person in PEOPLE:
        if person.id == person_id:
            _leave(ctx, "staff.raise_salary", person_id=str(person_id), by=f"{by:.2f}")
            return person.model_copy(update={"salary": person.salary + by})
    raise ToolFailure("nobody has this id", code="no_such_person")
