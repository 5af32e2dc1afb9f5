sum(p["salary"] for p in tools.staff.people().unwrap())
