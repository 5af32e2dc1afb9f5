from datetime import date

today = date(2026, 11, 18)
upcoming = [
    d["closes_on"]
    for d in tools.crm.deals().unwrap()
    if d["closes_on"] >= today and d["stage"] not in {"won", "lost"}
]
(min(upcoming) - today).days if upcoming else None
