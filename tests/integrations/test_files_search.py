"""Searching text in files: found where it is, and only inside the workspace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coilclaw.integrations.files import search
from coilclaw.policy import classify
from coilclaw.sdk import Bounds, Risk, ToolContext, ToolFailure


@pytest.fixture
def ctx(tmp_path: Path) -> ToolContext:
    (tmp_path / "secret.md").write_text("needle outside")
    workspace = tmp_path / "workspace"
    for name, text in {
        "a.md": "one\nthe needle\n",
        "notes/b.md": "Needle\r\nneedle\r\n",
        "notes/deep/c.txt": "needle",
        "private/key.md": "needle",
        ".git/config.md": "needle",
    }.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_bytes(text.encode())
    return ToolContext(workspace=workspace, bounds=Bounds(forbidden_paths=(workspace / "private",)))


def places(ctx: ToolContext, **arguments: object) -> list[str]:
    return [f"{line.path}:{line.line}" for line in search(ctx, **({"query": "needle"} | arguments)).lines]


def test_lines_are_found_with_their_places(ctx: ToolContext) -> None:
    found = search(ctx, "needle")
    assert [(line.path, line.line, line.text) for line in found.lines] == [
        ("a.md", 2, "the needle"),
        ("notes/b.md", 2, "needle"),
        ("notes/deep/c.txt", 1, "needle"),
    ]
    assert (found.files_searched, found.truncated) == (3, False)
    assert classify(search, search.input(query="x"), ctx) is Risk.READ


def test_a_folder_or_a_single_file_can_be_searched(ctx: ToolContext) -> None:
    assert places(ctx, path="notes") == ["notes/b.md:2", "notes/deep/c.txt:1"]
    assert places(ctx, path="notes/b.md", ignore_case=True) == ["notes/b.md:1", "notes/b.md:2"]
    with pytest.raises(ToolFailure, match="does not exist"):
        places(ctx, path="missing")


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("*.md", ["a.md:2"]),
        ("**/*.md", ["a.md:2", "notes/b.md:2"]),
        ("notes/**", ["notes/b.md:2", "notes/deep/c.txt:1"]),
        ("**/deep/*", ["notes/deep/c.txt:1"]),
        ("notes/*/c.*", ["notes/deep/c.txt:1"]),
        ("**/**/c.txt", ["notes/deep/c.txt:1"]),
        ("*.py", []),
    ],
)
def test_a_glob_limits_the_files(ctx: ToolContext, glob: str, expected: list[str]) -> None:
    assert places(ctx, glob=glob) == expected


@pytest.mark.parametrize("glob", ["", "/", "../*.md", "**/../*.md", "a/" * 30])
def test_a_glob_that_is_none_is_refused(ctx: ToolContext, glob: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        places(ctx, glob=glob)
    assert caught.value.code == "bad_glob"


def test_no_glob_takes_for_ever(ctx: ToolContext) -> None:
    name = "/".join(["a" * 60] * 10)
    (ctx.workspace / name).mkdir(parents=True)
    (ctx.workspace / name / "x").write_text("needle")
    assert places(ctx, glob="**/" * 15 + "y") == []
    assert places(ctx, glob="*a" * 90 + "*b") == []


def test_the_query_is_text_and_no_pattern(ctx: ToolContext) -> None:
    (ctx.workspace / "r.md").write_text("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\n(a+)+$ n..dle\n")
    assert places(ctx, query="(a+)+$") == ["r.md:2"]
    assert places(ctx, query="n..dle") == ["r.md:2"]


def test_links_pipes_binary_and_big_files_are_left_out(ctx: ToolContext, tmp_path: Path) -> None:
    for path in (ctx.workspace / "a.md", ctx.workspace / "notes/b.md", ctx.workspace / "notes/deep/c.txt"):
        path.unlink()
    (ctx.workspace / "link.md").symlink_to(tmp_path / "secret.md")
    (ctx.workspace / "folder").symlink_to(tmp_path)
    (ctx.workspace / "inside").symlink_to("notes")
    os.mkfifo(ctx.workspace / "pipe")
    (ctx.workspace / "binary").write_bytes(b"needle\0")
    (ctx.workspace / "latin").write_bytes(b"needle \xff")
    (ctx.workspace / "big").write_text("needle\n" * 200_000)
    assert places(ctx) == []
    for link in ("link.md", "folder", "inside"):
        with pytest.raises(ToolFailure, match="link"):
            places(ctx, path=link)


def test_what_could_not_be_searched_is_named(ctx: ToolContext) -> None:
    found = search(ctx, "needle")
    assert (found.skipped, found.skipped_count, found.truncated) == ([], 0, False)
    (ctx.workspace / "binary").write_bytes(b"needle\0")
    found = search(ctx, "needle")
    assert [(each.path, each.reason) for each in found.skipped] == [("binary", "not text")]
    assert not found.truncated  # No line can be missing.
    (ctx.workspace / "big").write_text("needle\n" * 200_000)
    (ctx.workspace / "odd\nname").write_text("needle")
    found = search(ctx, "needle")
    assert {each.path: each.reason for each in found.skipped} == {
        "big": "over 1 MiB",
        "binary": "not text",
        "odd\nname": "unprintable name",
    }
    assert found.truncated
    assert search(ctx, "needle", path="big").truncated


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_cannot_be_read_is_named(ctx: ToolContext) -> None:
    (ctx.workspace / "notes").chmod(0)
    (ctx.workspace / "a.md").chmod(0)
    try:
        found = search(ctx, "needle")
    finally:
        (ctx.workspace / "notes").chmod(0o700)
    assert {(each.path, each.reason) for each in found.skipped} == {
        ("notes", "cannot be read"),
        ("a.md", "cannot be read"),
    }
    assert found.truncated


def test_many_skipped_files_are_counted_and_some_of_them_named(ctx: ToolContext) -> None:
    for number in range(150):
        (ctx.workspace / f"binary{number}").write_bytes(b"\0")
    found = search(ctx, "needle")
    assert (len(found.skipped), found.skipped_count) == (100, 150)


def test_many_results_are_cut_and_say_so(ctx: ToolContext) -> None:
    (ctx.workspace / "many").write_text("needle\n" * 500)
    found = search(ctx, "needle", max_results=10)
    assert (len(found.lines), found.truncated) == (10, True)
    (ctx.workspace / "many").write_text("needle" * 10_000)
    assert max(len(line.text) for line in search(ctx, "needle").lines) == 500


def test_a_search_stops_when_time_is_short_or_nobody_waits(ctx: ToolContext) -> None:
    short = ToolContext(workspace=ctx.workspace, time_left=lambda: 0.1)
    assert (search(short, "needle").lines, search(short, "needle").truncated) == ([], True)
    with pytest.raises(ToolFailure, match="cancelled"):
        search(ToolContext(workspace=ctx.workspace, is_cancelled=lambda: True), "needle")
