class Positive:
    def __set_name__(self, owner, name):
        self.name = name
        self.private = "_" + name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        return getattr(instance, self.private)

    def __set__(self, instance, value):
        if not isinstance(value, (int, float)):
            raise TypeError(f"{self.name} must be a number, got {type(value).__name__}")
        if value <= 0:
            raise ValueError(f"{self.name} must be positive")
        setattr(instance, self.private, value)


class Order:
    price = Positive()
    count = Positive()

    def __init__(self, price, count):
        self.price = price
        self.count = count

    @property
    def total(self):
        return self.price * self.count


order = Order(2.5, 4)
assert order.total == 10.0
order.count = 6
assert order.total == 15.0
errors = []
for args in ((0, 1), (1, "two"), (3, -1)):
    try:
        Order(*args)
    except (TypeError, ValueError) as exc:
        errors.append(f"{type(exc).__name__}: {exc}")
assert errors == [
    "ValueError: price must be positive",
    "TypeError: count must be a number, got str",
    "ValueError: count must be positive",
]
assert isinstance(Order.price, Positive) and Order.price.name == "price"
"ok"
