from datetime import datetime, timedelta, UTC

start = datetime(2026, 11, 17, tzinfo=UTC)
end = start + timedelta(days=1)
readings = tools.stations.readings(station="port", since=start, until=end).unwrap()
max(r["wind"] for r in readings if start <= r["at"] < end)
