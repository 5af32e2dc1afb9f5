from __future__ import annotations

from functools import lru_cache
from typing import Optional

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def winner(board: str) -> Optional[str]:
    for a, b, c in LINES:
        if board[a] != " " and board[a] == board[b] == board[c]:
            return board[a]
    return None


def moves(board: str) -> list[int]:
    return [i for i, cell in enumerate(board) if cell == " "]


def play(board: str, i: int, player: str) -> str:
    return board[:i] + player + board[i + 1 :]


@lru_cache(maxsize=None)
def minimax(board: str, player: str) -> tuple[int, Optional[int]]:
    """Best score for X and the move that gets there."""
    if won := winner(board):
        return (1 if won == "X" else -1), None
    if not (free := moves(board)):
        return 0, None
    results = [(minimax(play(board, i, player), "O" if player == "X" else "X")[0], i) for i in free]
    pick = max if player == "X" else min
    return pick(results, key=lambda r: r[0])


def render(board: str) -> str:
    rows = (" | ".join(board[r : r + 3]) for r in range(0, 9, 3))
    return "\n--+---+--\n".join(rows)


board = "XX OO    "
assert minimax(board, "X") == (1, 2) and minimax("OO XX    ", "O") == (-1, 2)
assert winner("XXX      ") == "X" and winner("XOXOXOOXO") is None
game, player = "X   O    ", "X"
while not winner(game) and moves(game):
    game = play(game, minimax(game, player)[1], player)
    player = "XO"[player == "X"]
print(render(game))
assert winner(game) is None and len(moves(game)) == 0 and minimax.cache_info().misses > 100
assert render("XOX      ").splitlines()[0] == "X | O | X"
"ok"
