import asyncio

keys = [s["key"] for s in tools.stations.list().unwrap()]
uptimes = await asyncio.gather(*[tools.stations.uptime.start(station=k) for k in keys])

days = {}
for key, result in zip(keys, uptimes):
    match result:
        case Ok(uptime):
            days[key] = uptime["running_for"].days
        case Err(error):
            print(f"{key}: {error.message}")
days
