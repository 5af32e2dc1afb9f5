import re
from datetime import date

days = sorted(
    date.fromisoformat(m.group())
    for e in tools.archive.entries(folder="notes").unwrap()
    if (m := re.search(r"\d{4}-\d{2}-\d{2}", e["path"]))
)
(days[-1] - days[0]).days
