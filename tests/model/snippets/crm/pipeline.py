from decimal import Decimal

deals = tools.crm.deals().unwrap()
sum((d["amount"] for d in deals if d["stage"] not in ("won", "lost")), Decimal(0))
