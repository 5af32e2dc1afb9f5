import json
import re
from typing import Any, Callable, Dict, List, Tuple


class HTTPError(Exception):
    def __init__(self, status: int, reason: str = ""):
        super().__init__(status, reason)
        self.status, self.reason = status, reason


class App:
    def __init__(self):
        self._routes: List[Tuple[str, "re.Pattern[str]", Callable]] = []
        self._before: List[Callable] = []

    def route(self, path: str, methods: Tuple[str, ...] = ("GET",)):
        regex = re.compile("^" + re.sub(r"<int:(\w+)>", r"(?P<\1>\\d+)", re.sub(r"<(\w+)>", r"(?P<\1>[^/]+)", path)) + "$")

        def decorator(fn):
            for method in methods:
                self._routes.append((method, regex, fn))
            return fn

        return decorator

    get = lambda self, path: self.route(path)

    def post(self, path):
        return self.route(path, methods=("POST",))

    def handle(self, method: str, path: str, body: Any = None) -> Tuple[int, str]:
        try:
            allowed = False
            for verb, regex, fn in self._routes:
                if match := regex.match(path):
                    allowed = True
                    if verb == method:
                        kwargs = {k: int(v) if v.isdigit() else v for k, v in match.groupdict().items()}
                        if body is not None:
                            kwargs["body"] = json.loads(body)
                        return 200, json.dumps(fn(**kwargs))
            raise HTTPError(405 if allowed else 404, "method" if allowed else path)
        except HTTPError as e:
            return e.status, json.dumps({"error": e.reason})
        except json.JSONDecodeError:
            return 400, json.dumps({"error": "bad json"})
        except Exception as e:
            return 500, json.dumps({"error": f"{type(e).__name__}: {e}"})


app = App()
db: Dict[int, dict] = {1: {"name": "pen"}}


@app.get("/items/<int:item_id>")
def read(item_id):
    if item_id not in db:
        raise HTTPError(404, f"no item {item_id}")
    return db[item_id]


@app.post("/items")
def create(body):
    new_id = max(db) + 1
    db[new_id] = {"name": body["name"]}
    return {"id": new_id}


assert app.handle("GET", "/items/1") == (200, '{"name": "pen"}')
assert app.handle("POST", "/items", '{"name": "cap"}') == (200, '{"id": 2}')
assert app.handle("GET", "/items/9")[0] == 404 and app.handle("DELETE", "/items")[0] == 405
assert app.handle("POST", "/items", "{") == (400, '{"error": "bad json"}')
assert app.handle("POST", "/items", "{}") == (500, '{"error": "KeyError: \'name\'"}')
"ok"
