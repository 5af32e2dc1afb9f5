stations = tools.stations.list().unwrap()
times = {s["name"]: tools.stations.uptime(station=s["key"]).unwrap()["report_daily_at"] for s in stations}
min(times, key=times.get)
