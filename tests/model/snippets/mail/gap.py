from itertools import pairwise

times = sorted(m["sent_at"] for m in tools.mail.list().unwrap())
longest = max(b - a for a, b in pairwise(times))
longest.total_seconds() / 3600
