class Countdown:
    def __init__(self, start):
        self.current = start

    def __iter__(self):
        return self

    def __next__(self):
        if self.current <= 0:
            raise StopIteration
        self.current -= 1
        return self.current + 1


class Range2D:
    """Iterable that hands out a fresh iterator each time."""

    def __init__(self, rows, cols):
        self.rows, self.cols = rows, cols

    def __iter__(self):
        for r in range(self.rows):
            for c in range(self.cols):
                yield r, c

    def __reversed__(self):
        return reversed(list(self))

    def __len__(self):
        return self.rows * self.cols


class Sentence:
    def __init__(self, text):
        self.words = text.split()

    def __getitem__(self, i):
        return self.words[i]


assert list(Countdown(3)) == [3, 2, 1]
it = iter(Countdown(2))
assert next(it) == 2 and next(it) == 1 and next(it, "done") == "done"
grid = Range2D(2, 2)
assert list(grid) == list(grid) == [(0, 0), (0, 1), (1, 0), (1, 1)]
assert next(iter(reversed(grid))) == (1, 1) and len(grid) == 4
assert [w.upper() for w in Sentence("old protocol works")] == ["OLD", "PROTOCOL", "WORKS"]
assert "protocol" in Sentence("old protocol works")
rolls = iter([4, 2, 6, 1])
assert list(iter(lambda: next(rolls), 6)) == [4, 2]
for number in Countdown(5):
    if number == 2:
        break
else:
    raise AssertionError("loop should have been broken")
"ok"
