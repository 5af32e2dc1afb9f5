[s["name"] for s in tools.stations.list().unwrap() if s["online"]]
