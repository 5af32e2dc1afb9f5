from collections import Counter

inbox = tools.mail.list(folder="inbox").unwrap()
counts = Counter(m["from"] for m in inbox)
for sender, n in counts.most_common():
    print(f"{n:3d}  {sender}")

dict(counts)
