# "What is on today? And remind me tomorrow at 9 to call the dentist."
from datetime import date, timedelta

ZONE = "Europe/Paris"


def on(day):
    events = tools.calendar.events.list(start=day, end=day, time_zone=ZONE).unwrap()["events"]
    return [f"{event['start'][11:16]} {event['title']}" for event in events]


today = tools.time.now(zone=ZONE).unwrap()["local"][:10]
tomorrow = (date.fromisoformat(today) + timedelta(days=1)).isoformat()

print("today:", on(today))
match tools.calendar.events.create(
    title="Call the dentist",
    start=f"{tomorrow}T09:00",
    duration_minutes=15,
    reminder_minutes=10,
    time_zone=ZONE,
):
    case Ok(event):
        print("scheduled:", event["start"])
    case Err(code):
        print("not scheduled:", code)
print("tomorrow:", on(tomorrow))
