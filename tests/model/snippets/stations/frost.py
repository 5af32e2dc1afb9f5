readings = tools.stations.readings(station="hill").unwrap()
times = [r["at"].isoformat() for r in readings if r["celsius"] is not None and r["celsius"] < 0]
[len(times), times[0] if times else None]
