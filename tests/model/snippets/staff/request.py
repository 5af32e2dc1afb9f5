from datetime import date

rosa = next(p for p in tools.staff.people().unwrap() if p["name"] == "Rosa Tull")
tools.staff.request_absence(
    absence={
        "person_id": rosa["id"],
        "from": date(2026, 12, 21),
        "to": date(2026, 12, 24),
        "kind": "holiday",
    }
).unwrap()
