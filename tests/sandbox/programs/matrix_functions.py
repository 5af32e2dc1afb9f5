from typing import List

Matrix = List[List[float]]


def transpose(m: Matrix) -> Matrix:
    return [list(r) for r in zip(*m)]


def multiply(a: Matrix, b: Matrix) -> Matrix:
    if len(a[0]) != len(b):
        raise ValueError(f"cannot multiply {len(a)}x{len(a[0])} by {len(b)}x{len(b[0])}")
    return [[sum(x * y for x, y in zip(row, col)) for col in zip(*b)] for row in a]


def spiral(m: Matrix) -> List[float]:
    out = []
    while m:
        out += m.pop(0)
        m = [list(r) for r in zip(*m)][::-1]
    return out


def solve(a: Matrix, b: List[float]) -> List[float]:
    """Gaussian elimination with partial pivoting."""
    n = len(a)
    m = [row[:] + [rhs] for row, rhs in zip(a, b)]
    for col in range(n):
        pivot = max(range(col, n), key=lambda r: abs(m[r][col]))
        m[col], m[pivot] = m[pivot], m[col]
        for row in range(col + 1, n):
            factor = m[row][col] / m[col][col]
            m[row] = [x - factor * y for x, y in zip(m[row], m[col])]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (m[i][n] - sum(m[i][j] * x[j] for j in range(i + 1, n))) / m[i][i]
    return x


def rotate_in_place(m):
    n = len(m)
    for i in range(n):
        for j in range(i + 1, n):
            m[i][j], m[j][i] = m[j][i], m[i][j]
    for row in m:
        row.reverse()


assert transpose([[1, 2], [3, 4], [5, 6]]) == [[1, 3, 5], [2, 4, 6]]
assert multiply([[1, 2]], [[3], [4]]) == [[11]]
assert spiral([[1, 2, 3], [4, 5, 6], [7, 8, 9]]) == [1, 2, 3, 6, 9, 8, 7, 4, 5]
assert [round(v, 6) for v in solve([[2, 1, -1], [-3, -1, 2], [-2, 1, 2]], [8, -11, -3])] == [2.0, 3.0, -1.0]
grid = [[1, 2], [3, 4]]
rotate_in_place(grid)
assert grid == [[3, 1], [4, 2]]
try:
    multiply([[1, 2]], [[1, 2]])
except ValueError as e:
    assert str(e) == "cannot multiply 1x2 by 1x2"
pascal = [[1]]
while len(pascal) < 6:
    row = pascal[-1]
    pascal.append([1, *(a + b for a, b in zip(row, row[1:])), 1])
assert pascal[-1] == [1, 5, 10, 10, 5, 1]
"ok"
