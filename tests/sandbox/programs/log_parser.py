import re
from collections import Counter
from datetime import datetime, timedelta

LINE = re.compile(r"^(?P<when>\S+ \S+) \[(?P<level>\w+)\] (?P<source>[\w.]+): (?P<text>.*)$")
LOG = """\
2024-03-01 10:00:00 [INFO] web.server: started
2024-03-01 10:00:05 [ERROR] web.db: timeout after 30s
garbage
2024-03-01 10:02:00 [WARN] web.server: slow request: 1.2s
2024-03-01 10:05:30 [ERROR] web.db: connection lost
"""

entries = [match.groupdict() for line in LOG.splitlines() if (match := LINE.match(line))]
levels = Counter(entry["level"] for entry in entries)
times = [datetime.strptime(entry["when"], "%Y-%m-%d %H:%M:%S") for entry in entries]
assert len(entries) == 4
assert levels["ERROR"] == 2
assert times[-1] - times[0] == timedelta(minutes=5, seconds=30)
assert [entry["text"] for entry in entries if entry["source"] == "web.db"] == ["timeout after 30s", "connection lost"]

"ok"
