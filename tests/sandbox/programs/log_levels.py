import re
from collections import Counter, defaultdict
from datetime import datetime

LOG = """
2024-11-02 09:15:01,120 INFO  [web] GET /index 200 12ms
2024-11-02 09:15:02,003 ERROR [db] timeout after 3000ms (query=SELECT 1)
2024-11-02 09:15:02,400 WARNING [web] GET /slow 200 2210ms
not a log line
2024-11-02 09:16:10,000 ERROR [web] GET /boom 500 7ms
""".strip()

PATTERN = re.compile(
    r"^(?P<ts>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) (?P<level>[A-Z]+)\s+\[(?P<source>\w+)\] (?P<msg>.*)$"
)


def parse_line(line):
    match = PATTERN.match(line)
    if not match:
        return None
    entry = match.groupdict()
    entry["ts"] = datetime.strptime(entry["ts"], "%Y-%m-%d %H:%M:%S,%f")
    return entry


entries = [e for e in map(parse_line, LOG.split("\n")) if e]
assert len(entries) == 4
levels = Counter(e["level"] for e in entries)
assert levels == {"ERROR": 2, "INFO": 1, "WARNING": 1}
by_source = defaultdict(list)
for e in entries:
    by_source[e["source"]].append(e["msg"])
assert sorted(by_source) == ["db", "web"]
latencies = [int(m[1]) for e in entries if (m := re.search(r"(\d+)ms$", e["msg"]))]
assert latencies == [12, 2210, 7]
span = entries[-1]["ts"] - entries[0]["ts"]
assert round(span.total_seconds(), 2) == 68.88
statuses = dict(re.findall(r"(/\w+) (\d{3})", LOG))
assert statuses == {"/index": "200", "/slow": "200", "/boom": "500"}
for level, count in levels.most_common():
    print(f"{level:<8}{count:>3}  {'#' * count}")
"ok"
