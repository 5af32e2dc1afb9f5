import io
import logging
import sys
import warnings


class ListHandler(logging.Handler):
    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append((record.levelname, record.getMessage()))


stream = io.StringIO()
handler = logging.StreamHandler(stream)
handler.setFormatter(logging.Formatter("%(levelname)-7s %(name)s: %(message)s"))
logger = logging.getLogger("shop.orders")
logger.setLevel(logging.DEBUG)
logger.propagate = False
logger.addHandler(handler)
collector = ListHandler()
logger.addHandler(collector)


def process(order):
    logger.debug("processing %s", order)
    try:
        return 100 / order["qty"]
    except ZeroDivisionError:
        logger.exception("bad quantity")
        return None
    except KeyError as e:
        logger.error("missing %s", e)
        return None
    finally:
        logger.info("done")


assert process({"qty": 4}) == 25.0 and process({"qty": 0}) is None and process({}) is None
assert [level for level, _ in collector.records] == ["DEBUG", "INFO", "DEBUG", "ERROR", "INFO", "DEBUG", "ERROR", "INFO"]
output = stream.getvalue()
assert "ERROR   shop.orders: bad quantity" in output and "ZeroDivisionError: division by zero" in output
assert "missing 'qty'" in output
assert logging.getLogger("shop.orders") is logger and logging.getLevelName(30) == "WARNING"
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    warnings.warn("old api", DeprecationWarning, stacklevel=2)
assert len(caught) == 1 and issubclass(caught[0].category, DeprecationWarning)
print("finished", file=sys.stderr, flush=True)
"ok"
