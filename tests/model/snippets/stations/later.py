from datetime import date, datetime, timedelta

current = tools.stations.uptime(station="city").unwrap()["report_daily_at"]
new = (datetime.combine(date.today(), current) + timedelta(hours=1)).time()
updated = tools.stations.set_report_time(station="city", at=new).unwrap()
print(f"Moved from {current:%H:%M} to {updated['report_daily_at']:%H:%M}")
updated
