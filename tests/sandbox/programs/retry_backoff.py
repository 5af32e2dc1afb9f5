import random
import time
from functools import wraps


class TransientError(Exception):
    pass


def retry(exceptions=(Exception,), tries=4, delay=0.001, backoff=2, jitter=None, on_retry=None):
    """Call again after an error, waiting longer each time."""

    def outer(func):
        @wraps(func)
        def inner(*args, **kwargs):
            wait = delay
            for attempt in range(1, tries + 1):
                try:
                    return func(*args, **kwargs)
                except exceptions as exc:
                    if attempt == tries:
                        raise
                    if on_retry:
                        on_retry(attempt, exc, wait)
                    time.sleep(wait + (jitter() if jitter else 0))
                    wait *= backoff

        return inner

    return outer


rng = random.Random(7)
seen = []
calls = {"n": 0}


@retry((TransientError, TimeoutError), jitter=lambda: rng.uniform(0, 0.0005), on_retry=lambda *a: seen.append(a))
def fetch(limit):
    calls["n"] += 1
    if calls["n"] < limit:
        raise TransientError(f"attempt {calls['n']}")
    return {"status": 200, "attempts": calls["n"]}


assert fetch(3) == {"status": 200, "attempts": 3}
assert [(n, str(e), w) for n, e, w in seen] == [(1, "attempt 1", 0.001), (2, "attempt 2", 0.002)]
calls["n"] = 0
try:
    fetch(99)
except TransientError as e:
    assert str(e) == "attempt 4"
else:
    raise AssertionError
assert fetch.__name__ == "fetch"
"ok"
