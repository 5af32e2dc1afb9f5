import time
import timeit
from contextlib import contextmanager
from datetime import datetime, timezone


@contextmanager
def stopwatch(label, sink):
    begin = time.perf_counter()
    try:
        yield
    finally:
        sink[label] = time.perf_counter() - begin


class Timer:
    def __enter__(self):
        self.start = time.monotonic()
        return self

    def __exit__(self, *exc):
        self.elapsed = time.monotonic() - self.start


sink = {}
with stopwatch("sum", sink):
    total = sum(i * i for i in range(10_000))
with Timer() as t:
    time.sleep(0.01)
assert total == 333283335000 and 0 <= sink["sum"] < 60 and t.elapsed >= 0.009
print(f"took {sink['sum'] * 1000:.2f}ms")
assert timeit.timeit(lambda: "-".join(map(str, range(10))), number=10) >= 0
assert time.time() > 1_600_000_000 and time.time_ns() > 10**18 and time.process_time() >= 0
assert time.strftime("%Y-%m-%d", time.gmtime(0)) == "1970-01-01"
assert abs(datetime.now(timezone.utc).timestamp() - time.time()) < 60
stamp = datetime.now().strftime("%Y%m%d_%H%M%S")
assert len(stamp) == 15
"ok"
