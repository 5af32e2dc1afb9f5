"""Files: inside the workspace, and nowhere else."""

from __future__ import annotations

import os
import shutil
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from coilclaw.integrations.files import delete, list_files, read, search, write
from coilclaw.policy import classify
from coilclaw.sdk import Bounds, Forbid, Risk, ToolContext, ToolFailure

OUTSIDE = "outside secret"


@pytest.fixture
def ctx(tmp_path: Path) -> ToolContext:
    (tmp_path / "secret.txt").write_text(OUTSIDE)
    workspace = tmp_path / "workspace"
    (workspace / "notes").mkdir(parents=True)
    (workspace / "notes" / "a.txt").write_text("hällo")
    (workspace / "b.bin").write_bytes(b"\xff\xfe\x00")
    return ToolContext(workspace=workspace, bounds=Bounds(forbidden_paths=(workspace / "private",)))


def judged(tool: Any, ctx: ToolContext, **arguments: Any) -> Risk | Forbid:
    return classify(tool, tool.input(**arguments), ctx)


@pytest.mark.parametrize("given", [{}, {"text": "a", "data": b"b"}, {"text": "a", "content": "a"}])
def test_a_write_that_could_only_fail_is_refused_before_anybody_is_asked(
    ctx: ToolContext, given: dict[str, Any]
) -> None:
    refused = judged(write, ctx, path="x.bin", **given)
    assert isinstance(refused, Forbid)
    assert "either text=" in refused.reason
    assert judged(write, ctx, path="x.bin", text="") is Risk.WRITE


@pytest.mark.req("R333", "R334", "R335")
def test_files_are_listed_read_and_written(ctx: ToolContext) -> None:
    assert [entry.path for entry in list_files(ctx, ".").entries] == ["b.bin", "notes"]
    assert [entry.path for entry in list_files(ctx, ".", recursive=True).entries] == ["b.bin", "notes", "notes/a.txt"]
    assert read(ctx, "notes/a.txt").text == "hällo"
    written = write(ctx, "new/deep/c.txt", "text")
    assert written.created
    assert not write(ctx, "new/deep/c.txt", "more").created
    assert read(ctx, "./new/deep/c.txt").text == "more"
    assert [path.name for path in (ctx.workspace / "new/deep").iterdir()] == ["c.txt"]


ESCAPES = [
    "/etc/passwd",
    "../secret.txt",
    "notes/../../secret.txt",
    "notes/..",
    "~/x",
    "~root/x",
    "..\\secret.txt",
    "C:\\windows",
    "c:/windows",
    "\\\\server\\share",
    "//etc/passwd",
    "notes/\0/x",
    "private/key",
    "private",
    "./private/../private/key",
    "..",
    "../",
    "./..",
    "././../x",
    "notes/../..",
    "notes/./../../secret.txt",
    "notes//..//..//secret.txt",
    "a/b/c/../../../../secret.txt",
    "../workspace/b.bin",
    "..//secret.txt",
    "/",
    "//",
    "/.",
    "/..",
    "/proc/self/environ",
    "/dev/stdin",
    "/tmp",
    "~",
    "~/.ssh/id_rsa",
    "~+/x",
    "~-/x",
    "\\etc\\passwd",
    "notes\\..\\..\\secret.txt",
    "..\\",
    "notes/..\\..\\secret.txt",
    "C:",
    "C:secret.txt",
    "c:\\..\\x",
    "z:/x",
    "\\\\?\\C:\\x",
    "\\\\.\\pipe\\x",
    "\0",
    "a\0",
    "../secret.txt\0.md",
    "private/",
    "./private",
    "private//key",
    "private/./key",
    "private\\key",
    ".//private/key",
]


@pytest.mark.req("R352", "R353", "R485", "R501")
@pytest.mark.parametrize("path", ESCAPES, ids=range(len(ESCAPES)))
@pytest.mark.parametrize("tool", [read, list_files, write, search, delete], ids=lambda tool: tool.id)
def test_a_path_out_of_the_workspace_is_forbidden(ctx: ToolContext, tool: Any, path: str) -> None:
    arguments = {"path": path} | ({"text": "x"} if tool is write else {"query": "x"} if tool is search else {})
    assert isinstance(judged(tool, ctx, **arguments), Forbid)


@pytest.mark.parametrize("path", ["a.txt", "notes/a.txt", "./a", "a..b", "..a/b", "a/b..", "notes//a.txt", "é/ü.txt"])
def test_a_path_inside_is_not(ctx: ToolContext, path: str) -> None:
    assert judged(read, ctx, path=path) is Risk.READ
    assert judged(write, ctx, path=path, text="") is Risk.WRITE


@pytest.mark.parametrize("path", ["tools/x.py", "notes/x.py", "x", "./tools/a/b.py"])
def test_what_is_written_is_reported_before_it_is_there(ctx: ToolContext, path: str) -> None:
    reported: list[tuple[bytes, bool]] = []

    def note(data: bytes) -> None:
        reported.append((data, (ctx.workspace / path).exists()))

    noting = ToolContext(workspace=ctx.workspace, note_written=note)
    assert judged(write, noting, path=path, text="x = 1") is Risk.WRITE
    write(noting, path, "x = 1")
    assert reported == [(b"x = 1", False)]
    assert (ctx.workspace / path).read_text() == "x = 1"


def test_nothing_is_written_when_it_cannot_be_reported(ctx: ToolContext) -> None:
    def note(data: bytes) -> None:
        raise OSError("the log is full")

    with pytest.raises(OSError, match="full"):
        write(ToolContext(workspace=ctx.workspace, note_written=note), "new.py", "x = 1")
    assert sorted(path.name for path in ctx.workspace.iterdir()) == ["b.bin", "notes"]


@pytest.mark.parametrize("link", ["file", "folder", "inside"])
def test_links_are_not_followed(ctx: ToolContext, link: str, tmp_path: Path) -> None:
    target = {"file": tmp_path / "secret.txt", "folder": tmp_path, "inside": ctx.workspace / "notes"}[link]
    (ctx.workspace / "link").symlink_to(target)
    path = "link" if link == "file" else ("link/secret.txt" if link == "folder" else "link/a.txt")
    attempts: list[tuple[Any, tuple[str, ...]]] = [
        (read, (path,)),
        (write, (path, "x")),
        (list_files, ("link",)),
        (search, ("s", "link")),
        *([] if link == "file" else [(search, ("s", path)), (delete, (path,))]),
    ]
    for tool, arguments in attempts:
        with pytest.raises(ToolFailure) as caught:
            tool(ctx, *arguments)
        assert OUTSIDE not in str(caught.value)
        assert str(tmp_path) not in str(caught.value)
    assert (tmp_path / "secret.txt").read_text() == OUTSIDE
    assert {entry.kind for entry in list_files(ctx, ".").entries if entry.path == "link"} == {"link"}


def test_a_folder_swapped_for_a_link_leads_nowhere(ctx: ToolContext, tmp_path: Path) -> None:
    """An attacker who swaps a folder for a link while it is used: the walk fails, it never leads outside."""
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    (outside / "a.txt").write_text(OUTSIDE)
    real, aside = ctx.workspace / "notes", ctx.workspace / "aside"
    link = tmp_path / "link"
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            real.rename(aside)
            with suppress(FileExistsError):  # The tool was quicker and made the folder anew.
                real.symlink_to(outside)
            while True:
                try:
                    real.unlink() if real.is_symlink() else shutil.rmtree(real, ignore_errors=True)
                    aside.rename(real)
                    break
                except OSError:
                    continue

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for number in range(2000):
            try:
                assert read(ctx, "notes/a.txt").text == "hällo"
                write(ctx, "notes/mine.txt", str(number))
            except ToolFailure:
                pass
    finally:
        stop.set()
        thread.join()
    assert not link.exists()
    assert sorted(path.name for path in outside.iterdir()) == ["a.txt"]
    assert (outside / "a.txt").read_text() == OUTSIDE


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("missing.txt", "not_found"),
        ("notes", "not_a_file"),
        (".", "not_a_file"),
        ("b.bin", "not_text"),
        ("notes/a.txt/x", "not_a_folder"),
    ],
)
def test_what_cannot_be_read_is_explained(ctx: ToolContext, path: str, code: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        read(ctx, path)
    assert caught.value.code == code


def test_a_pipe_is_refused_and_not_waited_for(ctx: ToolContext) -> None:
    os.mkfifo(ctx.workspace / "pipe")
    with pytest.raises(ToolFailure, match="ordinary file"):
        read(ctx, "pipe")
    with pytest.raises(ToolFailure, match="ordinary file"):
        write(ctx, "pipe", "x")


def test_a_long_file_is_refused_unless_asked_for(ctx: ToolContext) -> None:
    (ctx.workspace / "long.txt").write_text("x" * 300_000)
    with pytest.raises(ToolFailure) as caught:
        read(ctx, "long.txt")
    assert caught.value.code == "too_large"
    assert read(ctx, "long.txt", max_bytes=400_000).size == 300_000


def test_a_long_listing_is_cut_and_says_so(ctx: ToolContext) -> None:
    folder = ctx.workspace / "many"
    folder.mkdir()
    for number in range(1100):
        (folder / f"{number:04}").touch()
    listing = list_files(ctx, "many")
    assert len(listing.entries) == 1000
    assert listing.truncated


def test_a_failed_write_leaves_the_old_file(ctx: ToolContext) -> None:
    (ctx.workspace / "folder").mkdir()
    with pytest.raises(ToolFailure):
        write(ctx, "folder", "x")
    with pytest.raises(ToolFailure):
        write(ctx, "b.bin/x", "x")
    assert (ctx.workspace / "b.bin").read_bytes() == b"\xff\xfe\x00"
    assert not [path for path in ctx.workspace.rglob("*.tmp")]


def test_a_missing_workspace_is_explained(tmp_path: Path) -> None:
    with pytest.raises(ToolFailure, match="does not exist"):
        list_files(ToolContext(workspace=tmp_path / "nowhere"), ".")


def test_a_workspace_that_is_a_link_is_judged_by_where_it_is(tmp_path: Path) -> None:
    real = tmp_path / "real"
    (real / ".ssh").mkdir(parents=True)
    (real / ".ssh/id").write_text(OUTSIDE)
    (tmp_path / "link").symlink_to(real)
    for place in (real, tmp_path / "link"):
        ctx = ToolContext(workspace=place, bounds=Bounds(forbidden_paths=(tmp_path / "link/.ssh",)))
        assert isinstance(judged(read, ctx, path=".ssh/id"), Forbid)
        assert ".ssh" not in [entry.path for entry in list_files(ctx, ".", recursive=True).entries]


@pytest.mark.parametrize("path", ["d/" * 400_000 + "b", "x" * 5000, "a/" * 101 + "b"])
def test_an_endless_path_is_refused_at_once(ctx: ToolContext, path: str) -> None:
    assert isinstance(judged(read, ctx, path=path), Forbid)


def test_a_rewritten_file_keeps_its_mode(ctx: ToolContext) -> None:
    file = ctx.workspace / "private.txt"
    file.write_text("x")
    file.chmod(0o600)
    write(ctx, "private.txt", "y")
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["😀" * 60, "n" * 250])
def test_long_names_can_be_written(ctx: ToolContext, name: str) -> None:
    assert write(ctx, name, "x").created


def test_names_no_file_can_have_are_explained(ctx: ToolContext) -> None:
    with pytest.raises(ToolFailure):
        write(ctx, "n" * 300, "x")
    with pytest.raises(ToolFailure):
        write(ctx, "n" * 300 + "/x", "x")


def test_tools_have_the_short_names_models_know() -> None:
    assert [(tool.id, tool.aliases) for tool in (list_files, read, write)] == [
        ("files.list", ("file_list",)),
        ("files.read", ("file_read",)),
        ("files.write", ("file_write",)),
    ]


def test_a_file_is_deleted_and_nothing_else(ctx: ToolContext, tmp_path: Path) -> None:
    assert judged(delete, ctx, path="b.bin") is Risk.DESTRUCTIVE
    delete(ctx, "b.bin")
    (ctx.workspace / "link").symlink_to(tmp_path / "secret.txt")
    delete(ctx, "link")
    assert [path.name for path in ctx.workspace.iterdir()] == ["notes"]
    assert (tmp_path / "secret.txt").read_text() == OUTSIDE
    for path, code in [("notes", "not_a_file"), (".", "not_a_file"), ("missing", "not_found")]:
        with pytest.raises(ToolFailure) as caught:
            delete(ctx, path)
        assert caught.value.code == code
    assert (ctx.workspace / "notes/a.txt").exists()


def test_reading_offers_no_more_than_one_call_may_return(ctx: ToolContext) -> None:
    assert read.input_schema["properties"]["max_bytes"]["maximum"] == Bounds().response_bytes
    (ctx.workspace / "long.txt").write_text("x" * 1_100_000)
    with pytest.raises(ToolFailure) as caught:
        read(ctx, "long.txt")
    assert caught.value.code == "too_large"
    assert "one call may return" in caught.value.message
    assert "max_bytes" not in (caught.value.hint or "")
    small = ToolContext(workspace=ctx.workspace, bounds=Bounds(response_bytes=1024))
    (ctx.workspace / "long.txt").write_text("x" * 2000)
    with pytest.raises(ToolFailure, match="more than the 1024"):
        read(small, "long.txt", max_bytes=4000)


@pytest.mark.req("R352")
@pytest.mark.parametrize("target", ["outside", "inside", "nowhere"])
def test_a_link_on_the_way_is_forbidden_before_anything_is_opened(
    ctx: ToolContext, tmp_path: Path, target: str
) -> None:
    places = {"outside": tmp_path, "inside": ctx.workspace / "notes", "nowhere": tmp_path / "missing"}
    (ctx.workspace / "link").symlink_to(places[target])
    for tool, arguments in (
        (read, {"path": "link/a.txt"}), (read, {"path": "link"}), (write, {"path": "link/new/a.txt", "text": "x"}),
        (write, {"path": "link", "text": "x"}), (list_files, {"path": "./link"}), (delete, {"path": "link/a.txt"}),
        (search, {"query": "x", "path": "link"}),
    ):  # fmt: skip
        assert tool.classify is not None
        opinion = tool.classify(tool.input.model_validate(arguments), ctx)
        assert isinstance(opinion, Forbid), tool.id
        assert "link" in opinion.reason
    assert delete.classify is not None
    assert delete.classify(delete.input.model_validate({"path": "link"}), ctx) is None


def test_bytes_are_written_and_read_as_they_are(ctx: ToolContext) -> None:
    data = bytes(range(256))
    assert write(ctx, "new.bin", data=data).size == 256
    found = read(ctx, "new.bin", binary=True)
    assert found.data == data
    with pytest.raises(ToolFailure, match="not UTF-8 text") as told:
        read(ctx, "new.bin")
    assert told.value.hint == "pass binary=True for its bytes"


@pytest.mark.parametrize("given", [{}, {"text": "a", "data": b"a"}])
def test_either_text_or_bytes_are_written(ctx: ToolContext, given: dict[str, Any]) -> None:
    with pytest.raises(ToolFailure, match="either text=, a str, or data="):
        write(ctx, "new.bin", **given)
