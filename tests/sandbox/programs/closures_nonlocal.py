counter = 0


def make_counter(start=0, step=1):
    count = start

    def increment():
        nonlocal count
        count += step
        return count

    def reset():
        nonlocal count
        count = start

    increment.reset = reset
    return increment


def bump():
    global counter
    counter += 1
    return counter


def compose(*funcs):
    def composed(x):
        for f in reversed(funcs):
            x = f(x)
        return x

    return composed


def averager():
    series = []

    def add(value):
        series.append(value)
        return sum(series) / len(series)

    return add


c = make_counter(10, 5)
assert [c(), c(), c()] == [15, 20, 25]
c.reset()
assert c() == 15
for _ in range(4):
    bump()
assert counter == 4
assert compose(lambda x: x + 1, lambda x: x * 10)(3) == 31
avg = averager()
avg(10)
assert avg(20) == 15.0
adders = [lambda x, n=n: x + n for n in range(3)]
assert [f(10) for f in adders] == [10, 11, 12]
"ok"
