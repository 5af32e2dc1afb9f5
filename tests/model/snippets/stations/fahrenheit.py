def to_fahrenheit(celsius: float) -> float:
    return celsius * 9 / 5 + 32

readings = tools.stations.readings(station="city").unwrap()
latest = next(r["celsius"] for r in reversed(readings) if r["celsius"] is not None)
round(to_fahrenheit(latest), 1)
