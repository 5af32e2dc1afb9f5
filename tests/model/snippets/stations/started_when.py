from datetime import datetime, timezone

now = datetime(2026, 11, 18, 6, 0, tzinfo=timezone.utc)
uptime = tools.stations.uptime(station="port").unwrap()
(now - uptime["running_for"]).isoformat()
