import asyncio
from datetime import date

async def main():
    async with asyncio.TaskGroup() as tg:
        people = tg.create_task(tools.staff.people.start())
        shifts = tg.create_task(tools.staff.shifts.start(day=date(2026, 11, 17)))
    names = {p["id"]: p["name"] for p in people.result().unwrap()}
    plan = shifts.result().unwrap()
    first = min(s["starts"] for s in plan)
    return [
        sorted(names[s["person_id"]] for s in plan if s["starts"] == first),
        first.strftime("%H:%M"),
    ]

await main()
