[p["name"] for p in tools.staff.people().unwrap() if p["manager_id"] is None]
