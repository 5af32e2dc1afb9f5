# Sort support tickets into queues with weighted keywords, then draw up the answer.
from collections import Counter, defaultdict
import re

tickets = [
    {"id": 101, "subject": "Refund for double charge", "body": "I was charged twice on my card!", "vip": False},
    {"id": 102, "subject": "App crashes", "body": "Error 500 when I open the login page. URGENT", "vip": True},
    {"id": 103, "subject": "Question", "body": "How do I change my password?", "vip": False},
    {"id": 104, "subject": "", "body": "", "vip": False},
]

KEYWORDS = {
    "billing": {"refund": 3, "charge": 2, "charged": 2, "card": 1},
    "technical": {"crashes": 3, "error": 2, "login": 1},
    "account": {"password": 2, "login": 1},
}


def score(ticket):
    words = Counter(re.findall(r"[a-z]+", f"{ticket['subject']} {ticket['body']}".lower()))
    return {queue: sum(words[w] * weight for w, weight in table.items()) for queue, table in KEYWORDS.items()}


def priority(ticket):
    text = ticket["body"]
    points = 2 * ticket["vip"] + ("urgent" in text.lower()) * 2 + text.count("!")
    return "high" if points >= 3 else "normal" if points else "low"


queues = defaultdict(list)
for ticket in tickets:
    scores = score(ticket)
    best = max(scores, key=scores.get)
    queue = best if scores[best] > 0 else "unsorted"
    queues[queue].append((ticket["id"], priority(ticket)))

assert queues == {
    "billing": [(101, "normal")],
    "technical": [(102, "high")],
    "account": [(103, "low")],
    "unsorted": [(104, "low")],
}
result = {
    "count": len(tickets),
    "by_queue": {q: len(v) for q, v in queues.items()},
    "escalate": [i for v in queues.values() for i, p in v if p == "high"],
}
print(result)
assert result["escalate"] == [102] and sum(result["by_queue"].values()) == result["count"]
"ok"
