readings = tools.stations.readings(station="hill").unwrap()
strongest = max(readings, key=lambda r: r["wind"])  # max gives the first of equals
strongest["at"].hour
