# Small tasks on tuples: each function does one thing and is checked right after.
from operator import itemgetter, mul


def tuple_multiply(a, b):
    return tuple(map(mul, a, b))


def sort_by_last(records):
    return sorted(records, key=itemgetter(-1))


def similar_elements(first, second):
    return tuple(sorted(set(first) & set(second)))


def flatten(nested):
    out = ()
    for item in nested:
        out += flatten(item) if isinstance(item, tuple) else (item,)
    return out


def to_string(chars):
    return "".join(chars)


def rotate(items, k):
    k %= len(items)
    return items[-k:] + items[:-k]


assert tuple_multiply((1, 5, 7), (2, 3, 4)) == (2, 15, 28)
assert sort_by_last([(2, 5), (1, 2), (4, 4)]) == [(1, 2), (4, 4), (2, 5)]
assert similar_elements((3, 4, 5, 6), (5, 7, 4, 10)) == (4, 5)
assert flatten((1, (2, (3, 4)), ((5,),))) == (1, 2, 3, 4, 5)
assert to_string(("m", "o", "d", "e", "l")) == "model"
assert rotate((1, 2, 3, 4, 5), 2) == (4, 5, 1, 2, 3)
head, *middle, tail = rotate((1, 2, 3, 4, 5), 1)
assert (head, middle, tail) == (5, [1, 2, 3], 4)
"ok"
