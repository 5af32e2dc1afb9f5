for s in tools.stations.list().unwrap():
    print(f"{s['name']}: {s['height']} m")
