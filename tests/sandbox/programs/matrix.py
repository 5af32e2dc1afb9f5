Matrix = list[list[float]]


def multiply(a: Matrix, b: Matrix) -> Matrix:
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def transpose(a: Matrix) -> Matrix:
    return [list(row) for row in zip(*a)]


def determinant(a: Matrix) -> float:
    if len(a) == 1:
        return a[0][0]
    return sum((-1) ** i * a[0][i] * determinant([row[:i] + row[i + 1 :] for row in a[1:]]) for i in range(len(a)))


assert multiply([[1, 2], [3, 4]], [[5, 6], [7, 8]]) == [[19, 22], [43, 50]]
assert transpose([[1, 2, 3]]) == [[1], [2], [3]]
assert determinant([[2, 0, 1], [1, 3, 2], [1, 1, 1]]) == 0
assert determinant([[3, 8], [4, 6]]) == -14

"ok"
