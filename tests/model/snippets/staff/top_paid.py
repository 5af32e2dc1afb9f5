people = tools.staff.people().unwrap()
max(people, key=lambda p: p["salary"])["name"]
