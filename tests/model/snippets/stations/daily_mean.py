from collections import defaultdict
from datetime import timezone
from statistics import fmean

by_day = defaultdict(list)
for reading in tools.stations.readings(station="city").unwrap():
    if (celsius := reading["celsius"]) is not None:
        by_day[reading["at"].astimezone(timezone.utc).date().isoformat()].append(celsius)

{day: round(fmean(values), 2) for day, values in sorted(by_day.items())}
