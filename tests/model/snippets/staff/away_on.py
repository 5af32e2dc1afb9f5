from datetime import date

day = date(2026, 10, 26)
names = {p["id"]: p["name"] for p in tools.staff.people().unwrap()}
away = {
    names[a["person_id"]]
    for a in tools.staff.absences().unwrap()
    if a["from"] <= day <= a["to"]
}
sorted(away)
