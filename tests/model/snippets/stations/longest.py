from datetime import timedelta

uptimes = []
for station in tools.stations.list().unwrap():
    try:
        uptimes.append(tools.stations.uptime(station=station["key"]).unwrap())
    except ToolCallError as e:
        print(f"{station['name']}: {e}")

longest = max(uptimes, key=lambda u: u["running_for"])
[longest["station"], longest["running_for"] / timedelta(hours=1)]
