import asyncio

port, city = await asyncio.gather(
    tools.stations.readings.start(station="port"),
    tools.stations.readings.start(station="city"),
)

def temperatures(result):
    return {r["at"]: r["celsius"] for r in result.unwrap() if r["celsius"] is not None}

port_temps = temperatures(port)
city_temps = temperatures(city)
sum(port_temps[at] - city_temps[at] > 2 for at in port_temps.keys() & city_temps.keys())
