stations = tools.stations.list().unwrap()
top = max(stations, key=lambda s: s["height"])
print(f"{top['name']} lies highest, at {top['height']} m.")
top["name"]
