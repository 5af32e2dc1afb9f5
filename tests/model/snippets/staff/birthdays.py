people = tools.staff.people().unwrap()
first_half = [p for p in people if p["birthday"].month <= 6]
first_half.sort(key=lambda p: (p["birthday"].month, p["birthday"].day))

for p in first_half:
    print(f"{p['birthday']:%d %B}  {p['name']}")

[p["name"] for p in first_half]
