import gzip
import pickle
import zlib
from array import array
from dataclasses import dataclass


@dataclass
class Save:
    level: int
    items: list


state = {"save": [1, 2, {"x": (3, 4)}], "flags": {True, None}, "raw": b"\x00\x01"}
assert pickle.loads(pickle.dumps(state)) == state
text = "the same line again and again\n" * 50
packed = zlib.compress(text.encode(), 9)
assert len(packed) < len(text) // 10 and zlib.decompress(packed).decode() == text
assert gzip.decompress(gzip.compress(b"data" * 10)) == b"data" * 10
numbers = array("i", [1, 2, 3])
numbers.append(4)
numbers.extend([5, 6])
assert sum(numbers) == 21 and numbers[1:3].tolist() == [2, 3] and numbers.typecode == "i"
assert Save(1, ["a"]) == Save(1, ["a"])
"ok"
