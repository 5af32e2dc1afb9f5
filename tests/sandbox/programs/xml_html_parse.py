import xml.etree.ElementTree as ET
from html.parser import HTMLParser

XML = """<catalog>
  <book id="b1" lang="en"><title>Rivers</title><price>12.5</price></book>
  <book id="b2"><title>Stones</title><price>8</price><tag>geo</tag><tag>old</tag></book>
</catalog>"""


class LinkCollector(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links = []
        self._href = None
        self._text = []

    def handle_starttag(self, tag, attrs):
        if tag == "a":
            self._href = dict(attrs).get("href")
            self._text = []

    def handle_data(self, data):
        if self._href is not None:
            self._text.append(data)

    def handle_endtag(self, tag):
        if tag == "a" and self._href is not None:
            self.links.append((self._href, "".join(self._text).strip()))
            self._href = None


root = ET.fromstring(XML)
books = [{"id": b.get("id"), "title": b.findtext("title"), "price": float(b.find("price").text)} for b in root.findall("book")]
assert books == [{"id": "b1", "title": "Rivers", "price": 12.5}, {"id": "b2", "title": "Stones", "price": 8.0}]
assert [t.text for t in root.iter("tag")] == ["geo", "old"] and root.tag == "catalog" and len(root) == 2
assert root.find("book[@id='b2']/title").text == "Stones" and root[0].attrib == {"id": "b1", "lang": "en"}
new = ET.SubElement(root, "book", id="b3")
ET.SubElement(new, "title").text = "A & B"
assert ET.tostring(new, encoding="unicode") == '<book id="b3"><title>A &amp; B</title></book>'
try:
    ET.fromstring("<a><b></a>")
except ET.ParseError as e:
    assert e.position[0] == 1
parser = LinkCollector()
parser.feed('<p>See <a href="/x">the <b>docs</b></a> and <a>nothing</a> <a href="/y"> more </a></p>')
assert parser.links == [("/x", "the docs"), ("/y", "more")]
"ok"
