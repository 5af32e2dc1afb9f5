"""Statements keep to what SQLite and PostgreSQL share, and each table has one module that knows it."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / "runtime" / "coilclaw"

STATEMENT = re.compile(
    r"\b(SELECT .+|INSERT (OR \w+ )?INTO \w+|UPDATE \w+ SET|DELETE FROM \w+|CREATE (UNIQUE )?(TABLE|INDEX)|ALTER TABLE|DROP TABLE)\b",
    re.DOTALL,
)
TABLE = re.compile(
    r"\b(?:FROM|JOIN|INTO|UPDATE|TABLE IF NOT EXISTS|TABLE IF EXISTS|TABLE(?! IF)|ON(?= \w+ \())\s+(\w+)"
)
SQLITE_ONLY = {
    "INSERT OR …": r"\bINSERT\s+OR\b|\bREPLACE\s+INTO\b",
    "rowid": r"\b(_?rowid_?|oid)\b",
    "WITHOUT ROWID": r"\bWITHOUT\b",
    "AUTOINCREMENT": r"\bAUTOINCREMENT\b",
    "PRAGMA": r"\bPRAGMA\b",
    "SQLite's own tables": r"\bsqlite_\w+",
    "functions of JSON": r"\bjson\w*\s*\(",
    "functions of time": r"\b(strftime|julianday|unixepoch)\s*\(|\bdatetime\s*\(",
    "instr, iif, ifnull": r"\b(instr|iif|ifnull|printf|group_concat|total|zeroblob|hex)\s*\(",
    "the type of bytes": r"\bBLOB\b|\bx'",
    "numbered parameters": r"[?:@]\d|:\w+",
    "IS with a value": r"\bIS\s+(NOT\s+)?\?",
    "GLOB, REGEXP, MATCH": r"\b(GLOB|REGEXP|MATCH)\b",
    "names in quotes": r'"\w+"|`\w+`|\[\w+\]',
    "==": r"==",
    "a parameter without a type": r"\?\s+IS\s+(NOT\s+)?NULL",
}


def texts(path: Path) -> Iterator[str]:
    """The strings of a module; what stands in braces in one of them is somebody else's."""
    tree = ast.parse(path.read_text())
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    documentation = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and not {id(node)} & (inner | documentation)
        ):
            yield node.value


def statements() -> Iterator[tuple[Path, str]]:
    for path in sorted(ROOT.rglob("*.py")):
        if "store" not in path.relative_to(ROOT).parts and "escapes" not in path.parts:
            yield from ((path, text) for text in texts(path) if STATEMENT.search(text))


def test_statements_are_found() -> None:
    """Or the others would hold for nothing."""
    assert len(list(statements())) > 60
    assert {path.stem for path, _ in statements()} >= {"ledger", "approval_store", "run_store", "journal", "marks"}


@pytest.mark.parametrize("what", SQLITE_ONLY)
def test_no_statement_outside_the_store_uses(what: str) -> None:
    pattern = re.compile(SQLITE_ONLY[what], re.IGNORECASE)
    found = [f"{path.relative_to(ROOT)}: {text}" for path, text in statements() if pattern.search(text)]
    assert not found


@pytest.mark.parametrize(
    ("what", "statement"),
    [
        ("INSERT OR …", "INSERT OR IGNORE INTO a VALUES (?)"),
        ("rowid", "SELECT x FROM a ORDER BY rowid"),
        ("WITHOUT ROWID", "CREATE TABLE a (x TEXT PRIMARY KEY) WITHOUT ROWID"),
        ("functions of JSON", "SELECT value FROM json_each(?)"),
        ("SQLite's own tables", "SELECT seq FROM sqlite_sequence"),
        ("the type of bytes", "SELECT CAST(body AS BLOB) FROM a"),
        ("numbered parameters", "SELECT x FROM a WHERE ?1 = y"),
        ("IS with a value", "UPDATE a SET x = 1 WHERE y IS ?"),
        ("functions of time", "INSERT INTO a VALUES (strftime('%Y'))"),
        ("instr, iif, ifnull", "SELECT x FROM a WHERE instr(body, ?)"),
        ("a parameter without a type", "SELECT x FROM a WHERE ? IS NULL OR y = ?"),
    ],
)
def test_what_is_not_shared_would_be_noticed(what: str, statement: str) -> None:
    assert STATEMENT.search(statement)
    assert re.search(SQLITE_ONLY[what], statement, re.IGNORECASE)


def test_each_table_is_known_to_one_module() -> None:
    owners: dict[str, set[str]] = defaultdict(set)
    for path, text in statements():
        for table in TABLE.findall(text):
            if table not in ("SET", "CONFLICT", "guarded_calls_before"):
                owners[table].add(str(path.relative_to(ROOT)))
    assert {table: sorted(modules) for table, modules in owners.items()} == {
        "sop_runs": ["memory/sop_runs.py"],
        "sop_steps": ["memory/sop_runs.py"],
        "workflow_runs": ["memory/sop_runs.py"],  # What earlier versions called the two.
        "workflow_steps": ["memory/sop_runs.py"],
        "receipts": ["receipts/receipt_table.py"],
        "receipt_head": ["receipts/head.py"],
        "receipt_marks": ["receipts/marks.py"],
        "contents": ["receipts/contents.py"],
        "tool_contents": ["trust/ledger.py"],
        "tool_files": ["trust/ledger.py"],
        "guarded_calls": ["trust/ledger.py"],
        "guarded_count": ["trust/ledger.py"],
        # Its form and the reading of rows stand apart, because reading judges what somebody may have written over.
        "approvals": ["policy/approval_store.py", "policy/approval_table.py"],
        "grants": ["policy/approval_store.py", "policy/approval_table.py"],
        "runs": ["bridge/run_store.py"],
        "journal": ["bridge/journal.py"],
        "conversations": ["memory/conversations.py"],
        "ambient_conversations": ["memory/conversations.py"],
        "spaces": ["spaces/spaces.py"],
        "turns": ["memory/turns.py"],
        "api_tokens": ["access/api_tokens.py"],
        "session_links": ["access/sessions.py"],
        "sessions": ["access/sessions.py"],
        "run_tokens": ["access/run_tokens.py"],
    }
