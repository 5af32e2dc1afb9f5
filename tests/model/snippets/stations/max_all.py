import asyncio

stations = tools.stations.list().unwrap()
results = await asyncio.gather(*[tools.stations.readings.start(station=s["key"]) for s in stations])

highest = {}
for station, result in zip(stations, results):
    match result:
        case Ok(readings):
            temps = [r["celsius"] for r in readings if r["celsius"] is not None]
            if temps:
                highest[station["key"]] = max(temps)
        case Err(error):
            print(f"Skipping {station['key']}: {error.code}")

highest
