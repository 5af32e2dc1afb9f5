import asyncio

online = [s for s in tools.stations.list().unwrap() if s["online"]]
results = await asyncio.gather(*[tools.stations.readings.start(station=s["key"]) for s in online])

windy = []
for station, result in zip(online, results):
    match result:
        case Ok(readings) if any(r["wind"] > 60 for r in readings):
            tools.stations.raise_alarm(station=station["key"], level="warning", message="Strong wind").unwrap()
            windy.append(station["key"])
        case Err(error):
            print(f"{station['name']}: {error.message}")

windy
