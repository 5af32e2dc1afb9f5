import copy
from dataclasses import dataclass, field
from typing import Dict, List


@dataclass
class Team:
    name: str
    members: List[str] = field(default_factory=list)
    scores: Dict[str, int] = field(default_factory=dict)


class Memento:
    """Undo history that keeps deep copies of a state."""

    def __init__(self, state):
        self.state = state
        self._undo = []

    def change(self, fn):
        self._undo.append(copy.deepcopy(self.state))
        fn(self.state)

    def undo(self):
        if self._undo:
            self.state = self._undo.pop()


class Tracked:
    def __init__(self, data):
        self.data = data

    def __copy__(self):
        return Tracked(self.data)

    def __deepcopy__(self, memo):
        return Tracked(copy.deepcopy(self.data, memo))


original = {"teams": [Team("red", ["ann"])], "meta": {"year": 2024}}
shallow, deep = copy.copy(original), copy.deepcopy(original)
original["teams"][0].members.append("bob")
original["meta"]["year"] += 1
assert shallow["meta"]["year"] == 2025 and deep["meta"]["year"] == 2024
assert deep["teams"][0] == Team("red", ["ann"]) and shallow["teams"][0].members == ["ann", "bob"]
history = Memento({"items": []})
history.change(lambda s: s["items"].append(1))
history.change(lambda s: s["items"].append(2))
history.undo()
assert history.state == {"items": [1]}
loop = [1]
loop.append(loop)
clone = copy.deepcopy(loop)
assert clone is not loop and clone[1] is clone
t = Tracked([1])
assert copy.copy(t).data is t.data and copy.deepcopy(t).data == [1]
assert Team("a").members is not Team("b").members
"ok"
