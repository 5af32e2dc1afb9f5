from typing import Dict, List, Optional


def subset_sum(nums: List[int], target: int) -> Optional[List[int]]:
    def go(i: int, left: int, chosen: List[int]):
        if left == 0:
            return chosen[:]
        if i == len(nums) or left < 0:
            return None
        chosen.append(nums[i])
        if (hit := go(i + 1, left - nums[i], chosen)) is not None:
            return hit
        chosen.pop()
        return go(i + 1, left, chosen)

    return go(0, target, [])


def word_search(board: List[str], word: str) -> bool:
    rows, cols = len(board), len(board[0])

    def walk(r, c, k, used):
        if k == len(word):
            return True
        if not (0 <= r < rows and 0 <= c < cols) or (r, c) in used or board[r][c] != word[k]:
            return False
        used = used | {(r, c)}
        return any(walk(r + dr, c + dc, k + 1, used) for dr, dc in [(0, 1), (1, 0), (0, -1), (-1, 0)])

    return any(walk(r, c, 0, frozenset()) for r in range(rows) for c in range(cols))


def color_map(neighbours: Dict[str, set], colors: List[str]) -> Dict[str, str]:
    assigned: Dict[str, str] = {}

    def solve(names):
        if not names:
            return True
        name, *rest = names
        for color in colors:
            if all(assigned.get(n) != color for n in neighbours[name]):
                assigned[name] = color
                if solve(rest):
                    return True
                del assigned[name]
        return False

    return assigned if solve(sorted(neighbours)) else {}


def generate_parens(n: int) -> List[str]:
    if n == 0:
        return [""]
    return [f"({a}){b}" for i in range(n) for a in generate_parens(i) for b in generate_parens(n - 1 - i)]


assert subset_sum([8, 6, 7, 5, 3], 16) == [8, 5, 3] and subset_sum([5], 3) is None
assert word_search(["ABCE", "SFCS", "ADEE"], "ABCCED") and not word_search(["ABCE", "SFCS", "ADEE"], "ABCB")
land = {"WA": {"NT", "SA"}, "NT": {"WA", "SA", "Q"}, "SA": {"WA", "NT", "Q"}, "Q": {"NT", "SA"}}
coloring = color_map(land, ["r", "g", "b"])
assert all(coloring[a] != coloring[b] for a in land for b in land[a]) and color_map(land, ["r", "g"]) == {}
assert sorted(generate_parens(3)) == ["((()))", "(()())", "(())()", "()(())", "()()()"]
"ok"
