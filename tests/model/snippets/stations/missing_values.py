sum(1 for r in tools.stations.readings(station="hill").unwrap() if r["celsius"] is None)
