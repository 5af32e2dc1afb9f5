import sqlite3


def make(items: list[tuple[str, int, float]]) -> sqlite3.Connection:
    db = sqlite3.connect(":memory:")
    db.execute("create table item(name text primary key, amount integer check (amount >= 0), price real)")
    with db:
        db.executemany("insert into item values (?, ?, ?)", items)
    return db


def sell(db: sqlite3.Connection, name: str, amount: int) -> bool:
    try:
        with db:
            return db.execute("update item set amount = amount - ? where name = ?", (amount, name)).rowcount == 1
    except sqlite3.IntegrityError:
        return False


db = make([("nut", 10, 0.5), ("bolt", 3, 1.25)])
assert sell(db, "nut", 4)
assert not sell(db, "bolt", 4)
assert not sell(db, "gear", 1)
assert db.execute("select sum(amount * price) from item").fetchone() == (6.75,)
assert [name for (name,) in db.execute("select name from item order by price desc")] == ["bolt", "nut"]

"ok"
