def valid_date(date: str) -> bool:
    """True when ``date`` is a mm-dd-yyyy date that could exist."""
    try:
        date = date.strip()
        month, day, year = date.split("-")
        month, day, year = int(month), int(day), int(year)
        if month < 1 or month > 12:
            return False
        if month in [1, 3, 5, 7, 8, 10, 12] and not (1 <= day <= 31):
            return False
        if month in [4, 6, 9, 11] and not (1 <= day <= 30):
            return False
        if month == 2 and not (1 <= day <= 29):
            return False
    except:
        return False

    return True


cases = {
    "03-11-2000": True,
    "15-01-2012": False,
    "04-0-2040": False,
    "06-04-2020": True,
    "06/04/2020": False,
    "02-30-2001": False,
    "": False,
    "one-two-three": False,
}
for text, expected in cases.items():
    assert valid_date(text) == expected, f"{text!r} should be {expected}"
"ok"
