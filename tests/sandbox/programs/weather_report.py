# What a model writes between two tool calls: reshape an answer and summarise it.
import json
from datetime import datetime
from statistics import mean

response = json.loads("""{
  "location": {"name": "Porto", "country": "PT"},
  "units": {"temp": "C", "wind": "km/h"},
  "hourly": {
    "time": ["2024-09-01T00:00", "2024-09-01T06:00", "2024-09-01T12:00", "2024-09-01T18:00", "2024-09-02T00:00", "2024-09-02T12:00"],
    "temp": [16.2, 15.1, 24.8, 22.0, 17.3, 27.9],
    "rain": [0, 0.4, 0, 1.2, null, 0]
  }
}""")

hourly = response["hourly"]
rows = [dict(zip(hourly.keys(), values)) for values in zip(*hourly.values())]
days = {}
for row in rows:
    moment = datetime.fromisoformat(row["time"])
    day = days.setdefault(moment.date().isoformat(), {"temps": [], "rain": 0.0})
    day["temps"].append(row["temp"])
    day["rain"] += row["rain"] or 0

summary = []
for date, info in sorted(days.items()):
    low, high = min(info["temps"]), max(info["temps"])
    summary.append({
        "date": date,
        "min": low,
        "max": high,
        "mean": round(mean(info["temps"]), 1),
        "rain": round(info["rain"], 1),
        "advice": "umbrella" if info["rain"] > 1 else "sunscreen" if high > 25 else "nothing",
    })

for s in summary:
    print(f"{s['date']}: {s['min']:.0f}–{s['max']:.0f}°{response['units']['temp']}, rain {s['rain']}mm → {s['advice']}")

assert summary == [
    {"date": "2024-09-01", "min": 15.1, "max": 24.8, "mean": 19.5, "rain": 1.6, "advice": "umbrella"},
    {"date": "2024-09-02", "min": 17.3, "max": 27.9, "mean": 22.6, "rain": 0.0, "advice": "sunscreen"},
]
warmest = max(summary, key=lambda s: s["max"])["date"]
assert warmest == "2024-09-02" and all("advice" in s for s in summary)
"ok"
