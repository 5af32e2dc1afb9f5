from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal


class InsufficientFunds(Exception):
    def __init__(self, missing: Decimal) -> None:
        super().__init__(f"missing {missing}")
        self.missing = missing


@dataclass
class Account:
    owner: str
    balance: Decimal = Decimal("0")
    history: list[tuple[str, Decimal]] = field(default_factory=list)

    def deposit(self, amount: str) -> None:
        if Decimal(amount) <= 0:
            raise ValueError("amount must be positive")
        self._change("deposit", Decimal(amount))

    def withdraw(self, amount: str) -> None:
        if Decimal(amount) > self.balance:
            raise InsufficientFunds(Decimal(amount) - self.balance)
        self._change("withdraw", -Decimal(amount))

    def add_interest(self, percent: str) -> None:
        gained = self.balance * Decimal(percent) / 100
        self._change("interest", gained.quantize(Decimal("0.01"), ROUND_HALF_EVEN))

    def _change(self, what: str, amount: Decimal) -> None:
        self.balance += amount
        self.history.append((what, amount))


account = Account("ann")
account.deposit("100.10")
account.add_interest("2.5")
account.withdraw("2.60")
assert account.balance == Decimal("100.00")
assert [what for what, _ in account.history] == ["deposit", "interest", "withdraw"]
try:
    account.withdraw("150")
except InsufficientFunds as error:
    assert error.missing == Decimal("50.00")
try:
    account.deposit("-1")
except ValueError as error:
    assert "positive" in str(error)

"ok"
