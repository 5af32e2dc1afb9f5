from datetime import datetime, timezone

since = datetime(2026, 11, 18, 1, 0, tzinfo=timezone.utc)
readings = tools.stations.readings(station="city", since=since).unwrap()
[r["wind"] for r in readings[-6:]]
