import asyncio

stations = tools.stations.list().unwrap()
tasks = [
    tools.stations.raise_alarm.start(station=s["key"], level="info", message="Test")
    for s in stations
]
alarms = [r.unwrap() for r in await asyncio.gather(*tasks)]
[a["number"] for a in alarms]
