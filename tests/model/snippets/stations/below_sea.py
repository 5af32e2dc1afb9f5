stations = tools.stations.list().unwrap()
[s["key"] for s in stations if s["height"] < 0]
