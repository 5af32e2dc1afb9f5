alarms = []
for station in tools.stations.list().unwrap():
    if not station["online"]:
        alarm = tools.stations.raise_alarm(
            station=station["key"],
            level="danger",
            message=f"{station['name']} is offline",
        ).unwrap()
        print(f"Alarm {alarm['number']} raised for {station['name']} at {alarm['raised_at']:%H:%M}")
        alarms.append(alarm)
alarms
