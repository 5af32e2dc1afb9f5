"""A stand-in for the service a real integration would talk to."""

import time

PRODUCTS = {
    "tea": {"name": "Green tea", "wanted": 40},
    "mug": {"name": "Blue mug", "wanted": 25},
    "jar": {"name": "Honey jar", "wanted": 60},
    "tin": {"name": "Cookie tin", "wanted": 15},
}
_ON_SHELF = {"tea": 12, "mug": 30, "jar": 58, "tin": 3}


def count(product: str) -> int:
    """Walking to the shelf takes a moment, as a request over the network would."""
    time.sleep(0.1)
    return _ON_SHELF[product]
