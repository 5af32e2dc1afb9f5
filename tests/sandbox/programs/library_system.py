from datetime import date, timedelta
from typing import Dict, List, Optional


class LibraryError(Exception):
    pass


class BookNotAvailable(LibraryError):
    def __init__(self, title, due=None):
        self.title = title
        self.due = due
        message = f"'{title}' is not available"
        if due:
            message += f" until {due:%d %b %Y}"
        super().__init__(message)


class Book:
    def __init__(self, title: str, author: str) -> None:
        self.title = title
        self.author = author
        self.borrower: Optional["Member"] = None
        self.due: Optional[date] = None

    def __str__(self) -> str:
        status = f"lent to {self.borrower.name}" if self.borrower else "on shelf"
        return f"{self.title} by {self.author} ({status})"


class Member:
    def __init__(self, name: str):
        self.name = name
        self.books: List[Book] = []


class Library:
    FEE = 0.5

    def __init__(self):
        self._books: Dict[str, Book] = {}

    def add(self, *books: Book) -> None:
        self._books.update({b.title.lower(): b for b in books})

    def lend(self, title: str, member: Member, today: date) -> date:
        book = self._books[title.lower()]
        if book.borrower is not None:
            raise BookNotAvailable(book.title, book.due)
        book.borrower, book.due = member, today + timedelta(days=14)
        member.books.append(book)
        return book.due

    def give_back(self, title: str, today: date) -> float:
        book = self._books[title.lower()]
        late = max(0, (today - book.due).days)
        book.borrower.books.remove(book)
        book.borrower = book.due = None
        return late * self.FEE

    def search(self, term: str) -> List[str]:
        return [str(b) for b in self._books.values() if term.lower() in b.author.lower()]


lib, kim = Library(), Member("Kim")
lib.add(Book("Tides", "R. Moss"), Book("Embers", "J. Vale"))
due = lib.lend("tides", kim, date(2024, 4, 1))
assert due == date(2024, 4, 15) and len(kim.books) == 1
try:
    lib.lend("Tides", Member("Lu"), date(2024, 4, 2))
except LibraryError as e:
    assert str(e) == "'Tides' is not available until 15 Apr 2024" and e.due == due
assert lib.search("moss") == ["Tides by R. Moss (lent to Kim)"]
assert lib.give_back("TIDES", date(2024, 4, 18)) == 1.5 and kim.books == []
"ok"
