from string import ascii_lowercase as low, ascii_uppercase as up


def caesar(text: str, shift: int) -> str:
    table = str.maketrans(low + up, low[shift:] + low[:shift] + up[shift:] + up[:shift])
    return text.translate(table)


def crack(cipher: str, crib: str = "the"):
    for shift in range(26):
        if crib in (plain := caesar(cipher, shift)).lower():
            return shift, plain
    return None


def morse(text):
    codes = dict(zip("abcdefghijklmnopqrstuvwxyz",
        ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --..".split()))
    decode = {v: k for k, v in codes.items()}
    encoded = " ".join(codes[c] for c in text.lower() if c in codes)
    assert "".join(decode[c] for c in encoded.split()) == "".join(filter(str.isalpha, text.lower()))
    return encoded


def rail_fence(text: str, rails: int) -> str:
    rows = [[] for _ in range(rails)]
    row, step = 0, 1
    for ch in text:
        rows[row].append(ch)
        if row == 0:
            step = 1
        elif row == rails - 1:
            step = -1
        row += step
    return "".join("".join(r) for r in rows)


secret = caesar("Meet me at the Old Mill", 7)
assert secret == "Tlla tl ha aol Vsk Tpss" and caesar(secret, -7 % 26) == "Meet me at the Old Mill"
assert crack(secret) == (19, "Meet me at the Old Mill")
assert crack("xyzzy") is None
assert morse("SOS") == "... --- ..."
assert rail_fence("WEAREDISCOVERED", 3) == "WECRERDSOEEAIVD"
"ok"
