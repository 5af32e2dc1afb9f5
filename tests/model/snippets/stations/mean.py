from statistics import mean

station = next(s for s in tools.stations.list().unwrap() if "harbour" in s["name"].lower())
readings = tools.stations.readings(station=station["key"]).unwrap()
round(mean(r["celsius"] for r in readings if r["celsius"] is not None), 1)
