import re


def snake_to_camel(word):
    return "".join(part.capitalize() or "_" for part in word.split("_"))


def camel_to_snake(text):
    step = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", text)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", step).lower()


def has_ab(text):
    pattern = "^a(b+)$"
    if re.search(pattern, text):
        return "Found a match!"
    else:
        return "Not matched!"


def multiple_to_single_space(text):
    return re.sub(" +", " ", text)


def change_date_format(dt):
    return re.sub(r"(\d{4})-(\d{1,2})-(\d{1,2})", r"\3-\2-\1", dt)


def positions(pattern, text):
    return [(m.start(), m.end(), m.group()) for m in re.finditer(pattern, text)]


assert snake_to_camel("order_line_item") == "OrderLineItem"
assert camel_to_snake("parseHTTPResponse2Xml") == "parse_http_response2_xml"
assert has_ab("abbb") == "Found a match!" and has_ab("ac") == "Not matched!"
assert multiple_to_single_space("a   b  c") == "a b c"
assert change_date_format("due 2031-01-02!") == "due 02-01-2031!"
assert positions(r"\b\w{5}\b", "apple pie under glass") == [(0, 5, "apple"), (10, 15, "under"), (16, 21, "glass")]
assert re.split(r"[;,\s]\s*", "a; b,c d") == ["a", "b", "c", "d"]
assert re.fullmatch(r"[\w.+-]+@\w+\.\w{2,}", "dev.ops+x@example.org") is not None
"ok"
