from collections import defaultdict
from decimal import Decimal

totals: defaultdict[str, Decimal] = defaultdict(Decimal)
for deal in tools.crm.deals().unwrap():
    totals[deal["stage"]] += deal["amount"]

dict(totals)
