from collections import Counter
from ipaddress import ip_address

lines = tools.archive.fetch(path="data/access.log").unwrap()["content"].decode().splitlines()
counts = Counter(line.split()[0] for line in lines if line.strip())
most = max(counts.values())
min((ip for ip, n in counts.items() if n == most), key=ip_address)
