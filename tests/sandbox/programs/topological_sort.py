from collections import defaultdict, deque
from typing import Dict, List


class CycleError(ValueError):
    pass


def topo_sort(deps: Dict[str, List[str]]) -> List[str]:
    """Order tasks so that each one comes after everything it needs (Kahn)."""
    indegree = {task: 0 for task in deps}
    users = defaultdict(list)
    for task, needs in deps.items():
        for need in needs:
            indegree.setdefault(need, 0)
            indegree[task] += 1
            users[need].append(task)
    ready = deque(sorted(t for t, d in indegree.items() if d == 0))
    order = []
    while ready:
        task = ready.popleft()
        order.append(task)
        for user in sorted(users[task]):
            indegree[user] -= 1
            if not indegree[user]:
                ready.append(user)
    if len(order) != len(indegree):
        raise CycleError(f"cycle among {sorted(set(indegree) - set(order))}")
    return order


plan = {"test": ["build"], "build": ["fetch", "configure"], "deploy": ["test", "sign"], "sign": ["build"], "configure": []}
order = topo_sort(plan)
assert order == ["configure", "fetch", "build", "sign", "test", "deploy"]
position = {task: i for i, task in enumerate(order)}
assert all(position[need] < position[task] for task, needs in plan.items() for need in needs)
try:
    topo_sort({"a": ["b"], "b": ["a"], "c": []})
except CycleError as e:
    assert str(e) == "cycle among ['a', 'b']"
else:
    assert False
"ok"
