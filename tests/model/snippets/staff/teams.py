from collections import Counter

people = tools.staff.people().unwrap()
dict(Counter(p["team"] for p in people))
