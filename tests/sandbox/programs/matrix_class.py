from copy import deepcopy


class Matrix:
    def __init__(self, rows):
        self.rows = [list(r) for r in rows]
        if len({len(r) for r in self.rows}) != 1:
            raise ValueError("ragged rows")

    @property
    def shape(self):
        return len(self.rows), len(self.rows[0])

    @classmethod
    def identity(cls, n):
        return cls([[int(i == j) for j in range(n)] for i in range(n)])

    def __getitem__(self, pos):
        r, c = pos
        return self.rows[r][c]

    def __setitem__(self, pos, value):
        r, c = pos
        self.rows[r][c] = value

    def __matmul__(self, other):
        cols = list(zip(*other.rows))
        return Matrix([[sum(a * b for a, b in zip(row, col)) for col in cols] for row in self.rows])

    def __pow__(self, n):
        result, base = Matrix.identity(len(self.rows)), self
        while n:
            if n & 1:
                result = result @ base
            base = base @ base
            n >>= 1
        return result

    def __eq__(self, other):
        return self.rows == other.rows

    @property
    def T(self):
        return Matrix(zip(*self.rows))

    def det(self):
        m = self.rows
        if len(m) == 1:
            return m[0][0]
        return sum((-1) ** j * m[0][j] * Matrix([r[:j] + r[j + 1 :] for r in m[1:]]).det() for j in range(len(m)))


m = Matrix([[1, 2], [3, 4]])
assert m.shape == (2, 2) and m[1, 0] == 3 and m.T == Matrix([[1, 3], [2, 4]])
assert (m @ Matrix.identity(2)) == m and m.det() == -2
assert (Matrix([[1, 1], [1, 0]]) ** 30)[0, 1] == 832040
clone = deepcopy(m)
clone[0, 0] += 10
clone[0, 1] *= 3
assert clone.rows[0] == [11, 6] and m.rows[0] == [1, 2]
assert Matrix([[2, 0, 1], [1, 3, 2], [1, 1, 4]]).det() == 18
try:
    Matrix([[1], [1, 2]])
except ValueError as e:
    assert str(e) == "ragged rows"
"ok"
