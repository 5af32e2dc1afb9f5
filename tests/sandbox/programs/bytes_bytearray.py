def xor_cipher(data: bytes, key: bytes) -> bytes:
    return bytes(b ^ key[i % len(key)] for i, b in enumerate(data))


def hexdump(data: bytes, width: int = 8) -> str:
    lines = []
    for offset in range(0, len(data), width):
        chunk = data[offset : offset + width]
        hexes = " ".join(f"{b:02x}" for b in chunk)
        text = "".join(chr(b) if 32 <= b < 127 else "." for b in chunk)
        lines.append(f"{offset:04x}  {hexes:<{width * 3 - 1}}  {text}")
    return "\n".join(lines)


secret = xor_cipher(b"attack at dawn", b"key")
assert secret != b"attack at dawn" and xor_cipher(secret, b"key") == b"attack at dawn"
print(hexdump(b"Hello\x00World!\n"))
assert hexdump(b"Hi\n") == "0000  48 69 0a                 Hi."
buf = bytearray(b"abc")
buf.append(100)
buf += b"ef"
buf[0] = ord("A")
buf[1:3] = b"--"
del buf[-1]
assert buf == b"A--de" and bytes(buf).decode("ascii") == "A--de"
assert b"a,b".split(b",") == [b"a", b"b"] and b"x".join([b"1", b"2"]) == b"1x2"
assert (1024).to_bytes(2, "big") == b"\x04\x00" and int.from_bytes(b"\x00\x04", "little") == 1024
assert "é".encode("utf-8") == b"\xc3\xa9" and "é".encode("ascii", "ignore") == b"" and "é".encode("ascii", "replace") == b"?"
try:
    b"\xff".decode("utf-8")
except UnicodeDecodeError as e:
    assert e.start == 0 and e.reason
view = memoryview(b"abcdef")
assert bytes(view[2:4]) == b"cd" and list(b"AB") == [65, 66] and b"AB".hex() == "4142"
"ok"
