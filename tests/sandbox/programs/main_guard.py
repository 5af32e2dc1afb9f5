"""Small command-like program with a main function."""

import logging
import sys
from typing import List

logger = logging.getLogger(__name__)


def collatz(n: int) -> List[int]:
    if n < 1:
        raise ValueError("n must be at least 1")
    path = [n]
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        path.append(n)
    return path


def main() -> int:
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s:%(message)s")
    best = max(range(1, 30), key=lambda n: len(collatz(n)))
    print(f"longest chain below 30 starts at {best} ({len(collatz(best))} steps)")
    sys.stdout.write("written\n")
    print("to stderr", file=sys.stderr)
    logger.debug("not shown %d", best)
    assert best == 27 and len(collatz(27)) == 112
    try:
        collatz(0)
    except ValueError as e:
        logger.warning("rejected: %s", e)
    return 0


if __name__ == "__main__":
    assert main() == 0
"ok"
