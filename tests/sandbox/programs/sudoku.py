def solve(board: list[list[int]]) -> bool:
    for r in range(9):
        for c in range(9):
            if board[r][c] == 0:
                used = set(board[r]) | {board[i][c] for i in range(9)}
                top, left = r // 3 * 3, c // 3 * 3
                used |= {board[i][j] for i in range(top, top + 3) for j in range(left, left + 3)}
                for digit in range(1, 10):
                    if digit not in used:
                        board[r][c] = digit
                        if solve(board):
                            return True
                        board[r][c] = 0
                return False
    return True


puzzle = """
53..7.... 6..195... .98....6. 8...6...3 4..8.3..1 7...2...6 .6....28. ...419..5 ....8..79
"""
grid = [[int(char) if char.isdigit() else 0 for char in row] for row in puzzle.split()]
assert solve(grid)
assert grid[0] == [5, 3, 4, 6, 7, 8, 9, 1, 2]
assert all(sorted(row) == list(range(1, 10)) for row in grid)
assert all(sorted(column) == list(range(1, 10)) for column in zip(*grid))

"ok"
