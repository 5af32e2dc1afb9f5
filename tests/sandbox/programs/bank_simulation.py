import itertools
from abc import ABC, abstractmethod
from typing import List


class Account(ABC):
    _ids = itertools.count(1)

    def __init__(self, owner, balance=0):
        self._id = next(Account._ids)
        self._owner = owner
        self._balance = balance
        self._log: List[str] = []

    def __repr__(self):
        return f"<{type(self).__name__} #{self._id} {self._owner}: {self._balance}>"

    def __iadd__(self, amount):
        self._balance += amount
        self._log.append(f"+{amount}")
        return self

    def __isub__(self, amount):
        if not self._can_withdraw(amount):
            raise RuntimeError(f"{self!r} cannot give {amount}")
        self._balance -= amount
        self._log.append(f"-{amount}")
        return self

    @abstractmethod
    def _can_withdraw(self, amount): ...

    def month_end(self):
        """Hook for subclasses."""


class Savings(Account):
    RATE = 10

    def _can_withdraw(self, amount):
        return amount <= self._balance

    def month_end(self):
        self += self._balance // self.RATE


class Checking(Account):
    def __init__(self, owner, balance=0, overdraft=100):
        super().__init__(owner, balance)
        self.__overdraft = overdraft

    def _can_withdraw(self, amount):
        return self._balance + self.__overdraft >= amount


class Bank:
    def __init__(self):
        self.accounts = []

    def open(self, cls, *args, **kwargs):
        self.accounts.append(cls(*args, **kwargs))
        return self.accounts[-1]

    def transfer(self, src, dst, amount):
        src -= amount
        dst += amount

    def close_month(self):
        for account in self.accounts:
            account.month_end()
        return sum(a._balance for a in self.accounts)


bank = Bank()
s, c = bank.open(Savings, "Pat", 1000), bank.open(Checking, "Pat", overdraft=50)
bank.transfer(s, c, 200)
assert repr(s) == "<Savings #1 Pat: 800>" and repr(c) == "<Checking #2 Pat: 200>"
try:
    bank.transfer(c, s, 251)
except RuntimeError as e:
    assert "cannot give 251" in str(e)
bank.transfer(c, s, 250)
assert c._balance == -50 and bank.close_month() == 1105 and s._log == ["-200", "+250", "+105"]
assert c._Checking__overdraft == 50
"ok"
