import re
from collections import Counter

log = tools.archive.fetch(path="data/access.log").unwrap()["content"].decode("utf-8", errors="replace")
statuses = Counter()
for line in log.splitlines():
    if m := re.search(r'"\s+(\d{3})\b', line) or re.search(r"\s([1-5]\d{2})(?=\s|$)", line):
        statuses[m.group(1)] += 1

dict(statuses)
