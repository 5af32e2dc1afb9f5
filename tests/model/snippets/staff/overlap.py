from datetime import date

people = {p["name"]: p for p in tools.staff.people().unwrap()}
day = date(2026, 10, 1)
absence = {"person_id": people["Mara Quist"]["id"], "from": day, "to": day, "kind": "holiday"}

try:
    outcome = tools.staff.request_absence(absence=absence).unwrap()
except ToolCallError as e:
    print(f"Refused: {e}")
    outcome = e.code

outcome
