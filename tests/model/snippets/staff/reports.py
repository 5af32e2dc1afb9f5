from collections import Counter

people = tools.staff.people().unwrap()
names = {p["id"]: p["name"] for p in people}
counts = Counter(p["manager_id"] for p in people if p["manager_id"] is not None)
{names[manager]: n for manager, n in counts.most_common()}
