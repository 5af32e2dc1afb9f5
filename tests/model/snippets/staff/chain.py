people = {p["id"]: p for p in tools.staff.people().unwrap()}

person = next(p for p in people.values() if p["name"] == "Sami Udo")
chain = []
while (manager_id := person["manager_id"]) is not None:
    person = people[manager_id]
    chain.append(person["name"])

chain
