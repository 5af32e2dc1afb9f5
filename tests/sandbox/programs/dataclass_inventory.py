from dataclasses import dataclass, field, asdict, replace
from typing import Dict, List


@dataclass
class Item:
    name: str
    price: float
    quantity: int = 0
    tags: List[str] = field(default_factory=list)

    @property
    def total(self) -> float:
        return round(self.price * self.quantity, 2)


@dataclass
class Inventory:
    items: Dict[str, Item] = field(default_factory=dict)
    log: List[str] = field(default_factory=list, repr=False, compare=False)

    def add(self, item: Item) -> None:
        if item.name in self.items:
            self.items[item.name].quantity += item.quantity
        else:
            self.items[item.name] = item
        self.log.append(f"+{item.quantity} {item.name}")

    def remove(self, name: str, quantity: int) -> None:
        item = self.items.get(name)
        if item is None:
            raise KeyError(name)
        if item.quantity < quantity:
            raise ValueError(f"only {item.quantity} of {name}")
        item.quantity -= quantity

    def value(self) -> float:
        return sum(i.total for i in self.items.values())


inv = Inventory()
inv.add(Item("bolt", 0.25, 100, ["metal"]))
inv.add(Item("nut", 0.1, 50))
inv.add(Item("bolt", 0.25, 20))
inv.remove("nut", 10)
assert inv.value() == 34.0
assert asdict(inv.items["bolt"]) == {"name": "bolt", "price": 0.25, "quantity": 120, "tags": ["metal"]}
assert replace(inv.items["nut"], quantity=0) == Item("nut", 0.1)
assert repr(inv.items["nut"]) == "Item(name='nut', price=0.1, quantity=40, tags=[])"
try:
    inv.remove("nut", 99)
except ValueError as exc:
    assert str(exc) == "only 40 of nut"
"ok"
