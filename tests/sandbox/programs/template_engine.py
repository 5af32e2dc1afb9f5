import re
from string import Template
from html import escape


class TemplateError(LookupError):
    pass


class Engine:
    VAR = re.compile(r"\{\{\s*([\w.]+)\s*(?:\|\s*(\w+)\s*)?\}\}")
    FOR = re.compile(r"\{% for (\w+) in (\w+) %\}(.*?)\{% end %\}", re.S)

    def __init__(self):
        self.filters = {"upper": str.upper, "title": lambda s: s.title(), "e": escape, "len": lambda v: str(len(v))}

    def _lookup(self, context, dotted):
        value = context
        for name in dotted.split("."):
            if isinstance(value, dict) and name in value:
                value = value[name]
            elif hasattr(value, name):
                value = getattr(value, name)
            else:
                raise TemplateError(dotted)
        return value

    def render(self, source, **context):
        def loop(match):
            var, seq, body = match.groups()
            return "".join(self.render(body, **{**context, var: item}) for item in context[seq])

        def variable(match):
            value = self._lookup(context, match.group(1))
            name = match.group(2)
            return self.filters[name](value) if name else str(value)

        return self.VAR.sub(variable, self.FOR.sub(loop, source))


engine = Engine()
page = engine.render(
    "<h1>{{ title|e }}</h1>{% for u in users %}<li>{{ u.name | upper }}: {{u.age}}</li>{% end %}({{ users|len }})",
    title="A & B",
    users=[{"name": "ann", "age": 31}, {"name": "bob", "age": 27}],
)
assert page == "<h1>A &amp; B</h1><li>ANN: 31</li><li>BOB: 27</li>(2)"
try:
    engine.render("{{ nope }}")
except TemplateError as e:
    assert e.args[0] == "nope"
t = Template("Dear $name, you owe $$${amount}. $later")
assert t.safe_substitute(name="Jo", amount=5) == "Dear Jo, you owe $5. $later"
"ok"
