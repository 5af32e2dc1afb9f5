def running_average():
    total = 0.0
    count = 0
    average = None
    while True:
        value = yield average
        if value is None:
            break
        total += value
        count += 1
        average = total / count
    return total, count


def delegator(results):
    while True:
        outcome = yield from running_average()
        results.append(outcome)


def flatten(items):
    for item in items:
        if isinstance(item, (list, tuple)):
            yield from flatten(item)
        else:
            yield item


def guarded(log):
    try:
        yield 1
        yield 2
    except ValueError as e:
        log.append(f"caught {e}")
        yield -1
    finally:
        log.append("closed")


avg = running_average()
next(avg)
assert avg.send(10) == 10.0 and avg.send(30) == 20.0
try:
    avg.send(None)
except StopIteration as stop:
    assert stop.value == (40.0, 2)
collected = []
d = delegator(collected)
next(d)
for v in (1, 2, 3, None, 5, None):
    d.send(v)
assert collected == [(6.0, 3), (5.0, 1)]
assert list(flatten([1, [2, (3, [4, []])], 5])) == [1, 2, 3, 4, 5]
log = []
g = guarded(log)
assert next(g) == 1 and g.throw(ValueError("boom")) == -1
g.close()
assert log == ["caught boom", "closed"]
"ok"
