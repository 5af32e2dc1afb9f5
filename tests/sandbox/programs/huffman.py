import heapq
from collections import Counter
from itertools import count


def codes(text: str) -> dict[str, str]:
    order = count()
    heap = [(weight, next(order), {char: ""}) for char, weight in sorted(Counter(text).items())]
    heapq.heapify(heap)
    if len(heap) == 1:
        return dict.fromkeys(heap[0][2], "0")
    while len(heap) > 1:
        first, second = heapq.heappop(heap), heapq.heappop(heap)
        merged = {c: "0" + code for c, code in first[2].items()} | {c: "1" + code for c, code in second[2].items()}
        heapq.heappush(heap, (first[0] + second[0], next(order), merged))
    return heap[0][2]


def decode(bits: str, table: dict[str, str]) -> str:
    letters = {code: char for char, code in table.items()}
    out, code = [], ""
    for bit in bits:
        code += bit
        if code in letters:
            out.append(letters[code])
            code = ""
    return "".join(out)


text = "abracadabra"
table = codes(text)
bits = "".join(table[char] for char in text)
assert len(bits) == 23
assert decode(bits, table) == text
assert codes("aaa") == {"a": "0"}

"ok"
