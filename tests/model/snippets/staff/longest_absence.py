from datetime import timedelta

people = tools.staff.people().unwrap()
absences = tools.staff.absences().unwrap()

def length(absence):
    return (absence["to"] - absence["from"] + timedelta(days=1)).days

longest = max(absences, key=length)
name = next(p["name"] for p in people if p["id"] == longest["person_id"])
[name, length(longest)]
