match tools.staff.people():
    case Ok(people):
        names = sorted(p["name"] for p in people if p["salary"] < 60000)
    case Err(error):
        print(f"Could not get the people: {error.code}: {error.message}")
        names = []

names
