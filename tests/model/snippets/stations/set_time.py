from datetime import time

uptime = tools.stations.set_report_time(station="port", at=time(4, 15)).unwrap()
f"{uptime['report_daily_at']:%H:%M}"
