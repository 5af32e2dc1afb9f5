def differ_at_one_bit(a: int, b: int) -> bool:
    x = a ^ b
    return x != 0 and x & (x - 1) == 0


def count_set_bits(n):
    count = 0
    while n:
        n &= n - 1
        count += 1
    return count


def toggle_middle(n):
    """Flip every bit except the first and the last."""
    if n < 4:
        return n
    mask = ((1 << (n.bit_length() - 1)) - 1) & ~1
    return n ^ mask


def swap_nibbles(byte):
    return (byte & 0x0F) << 4 | (byte & 0xF0) >> 4


def subsets(items):
    n = len(items)
    return [[items[i] for i in range(n) if mask >> i & 1] for mask in range(1 << n)]


assert differ_at_one_bit(13, 9) is True
assert differ_at_one_bit(15, 8) is False
assert count_set_bits(0b1011_0110) == bin(0b10110110).count("1") == (0b10110110).bit_count() == 5
assert toggle_middle(9) == 15 and toggle_middle(10) == 12
assert hex(swap_nibbles(0xA5)) == "0x5a"
assert subsets("abc") == [[], ["a"], ["b"], ["a", "b"], ["c"], ["a", "c"], ["b", "c"], ["a", "b", "c"]]
assert int("ff", 16) == 255 and f"{37:08b}" == "00100101" and oct(8) == "0o10"
x = 0b1100
x <<= 2
x |= 1
x ^= 0b11
x >>= 1
assert x == 25 and ~x == -26
"ok"
