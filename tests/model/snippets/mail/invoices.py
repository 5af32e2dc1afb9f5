import re
from decimal import Decimal

# First look at what the invoices look like, then add up what is due.
AMOUNT = re.compile(r"due[^\d\n]*([\d.,]*\d)", re.IGNORECASE)

def to_decimal(text: str) -> Decimal:
    if re.search(r",\d{1,2}$", text):            # 1.234,50
        text = text.replace(".", "").replace(",", ".")
    else:                                        # 1,234.50
        text = text.replace(",", "")
    return Decimal(text)

total = Decimal("0")
for folder in ("inbox", "archive"):
    for summary in tools.mail.list(folder=folder).unwrap():
        message = tools.mail.read(id=summary["id"]).unwrap()
        if "invoice" not in (message["subject"] + message["body"]).lower():
            continue
        print(message["id"], message["subject"], repr(message["body"]))
        if found := AMOUNT.search(message["body"]):
            total += to_decimal(found[1])

total
