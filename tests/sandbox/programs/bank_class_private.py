class InsufficientFunds(Exception):
    """Raised when a withdrawal is larger than the balance."""

    def __init__(self, balance: float, amount: float):
        super().__init__(f"cannot withdraw {amount:.2f}, balance is {balance:.2f}")
        self.balance = balance
        self.amount = amount

    @property
    def missing(self) -> float:
        return self.amount - self.balance


class Account:
    interest_rate = 0.02
    _count = 0

    def __init__(self, owner: str, balance: float = 0.0) -> None:
        self.owner = owner
        self.__balance = balance
        self._history = []
        Account._count += 1

    @property
    def balance(self) -> float:
        return self.__balance

    def deposit(self, amount: float) -> None:
        if amount <= 0:
            raise ValueError("amount must be positive")
        self.__balance += amount
        self._history.append(("deposit", amount))

    def withdraw(self, amount: float) -> None:
        if amount > self.__balance:
            raise InsufficientFunds(self.__balance, amount)
        self.__balance -= amount
        self._history.append(("withdraw", amount))

    @classmethod
    def count(cls) -> int:
        return cls._count

    @staticmethod
    def valid_amount(x) -> bool:
        return isinstance(x, (int, float)) and x > 0


acc = Account("Mira", 100)
acc.deposit(50.5)
acc.withdraw(20)
assert acc.balance == 130.5
try:
    acc.withdraw(1000)
except InsufficientFunds as e:
    assert e.missing == 869.5 and "balance is 130.50" in str(e)
else:
    raise AssertionError("should have failed")
try:
    acc.balance = 5
except AttributeError:
    pass
assert [kind for kind, _ in acc._history] == ["deposit", "withdraw"]
assert Account.count() == 1 and Account.valid_amount(3) and not Account.valid_amount("3")
"ok"
