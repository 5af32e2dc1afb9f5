people = tools.staff.people().unwrap()
by_id = {p["id"]: p for p in people}
tess = next(p for p in people if p["name"] == "Tess Vane")
by_id[tess["manager_id"]]["name"] if tess["manager_id"] else None
