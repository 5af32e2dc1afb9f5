import json
from dataclasses import asdict, dataclass, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum


class Status(Enum):
    OPEN = "open"
    PAID = "paid"


@dataclass
class Invoice:
    number: int
    due: date
    amount: Decimal
    status: Status


class Encoder(json.JSONEncoder):
    def default(self, o):
        if is_dataclass(o):
            return {"__kind__": type(o).__name__, **asdict(o)}
        if isinstance(o, (date, datetime)):
            return o.isoformat()
        if isinstance(o, Decimal):
            return str(o)
        if isinstance(o, Enum):
            return o.value
        if isinstance(o, (set, frozenset)):
            return sorted(o)
        return super().default(o)


def hook(data):
    if data.get("__kind__") == "Invoice":
        return Invoice(data["number"], date.fromisoformat(data["due"]), Decimal(data["amount"]), Status(data["status"]))
    return data


invoice = Invoice(7, date(2024, 5, 17), Decimal("19.90"), Status.OPEN)
text = json.dumps({"invoice": invoice, "tags": {"b", "a"}}, cls=Encoder, sort_keys=True)
assert '"tags": ["a", "b"]' in text and '"due": "2024-05-17"' in text
back = json.loads(text, object_hook=hook)
assert back["invoice"] == invoice
assert json.dumps({"when": date(2020, 1, 2)}, default=str) == '{"when": "2020-01-02"}'
try:
    json.dumps(object(), cls=Encoder)
except TypeError as e:
    assert "not JSON serializable" in str(e)
try:
    json.loads('{"a": 1,}')
except json.JSONDecodeError as e:
    assert e.lineno == 1 and e.pos > 0
"ok"
