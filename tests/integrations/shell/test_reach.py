"""What programs can be made to reach by the way they are called, beyond the paths that a command names."""

from __future__ import annotations

from pathlib import Path

import pytest

from coilclaw.integrations.shell import run
from coilclaw.policy import classify
from coilclaw.sdk import Bounds, Forbid, Risk, ToolContext

LEVELS = ("readonly", "supervised", "full")
ALLOWED = (
    "cat", "chmod", "cp", "csplit", "date", "diff", "echo", "emacs", "env", "file", "find", "gawk", "gdb", "grep", "gunzip", "jq", "ln",
    "ls", "m4", "mawk", "mkdir", "mv", "nawk", "awk", "ed", "rm", "sed", "sort", "split", "tee", "test", "touch", "timeout", "vim", "wc",
    "zip", "sqlite3", "rg", "fd", "ag", "gcc", "pytest", "uv", "go", "java", "cmake", "patch", "unzip", "ar", "tar", "python3", "git",
)  # fmt: skip


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "workspace"
    for folder in ("sub/x", "secret", "repo/.git/hooks", "plain"):
        (place / folder).mkdir(parents=True)
    for file in ("secret/key", "sub/.env", "f.txt", "sub/a.txt", "plain/b.txt", "repo/.git/config", "repo/c.txt"):
        (place / file).write_text("text\n")
    return place


def judged(command: str | list[str], workspace: Path, cwd: str = ".", autonomy: str = "full") -> Risk | Forbid:
    paths = (workspace / "secret", workspace / ".env", workspace / "new/.env", workspace / "plain/.env")
    bounds = Bounds(autonomy=autonomy, shell_allow=ALLOWED, forbidden_paths=paths, forbidden_commands=())  # type: ignore[arg-type]
    given = {"command": command} if isinstance(command, str) else {"argv": command}
    return classify(run, run.input(**given, cwd=cwd), ToolContext(workspace=workspace, bounds=bounds))


def reason(command: str | list[str], workspace: Path, cwd: str = ".", autonomy: str = "full") -> str:
    verdict = judged(command, workspace, cwd, autonomy)
    assert isinstance(verdict, Forbid), command
    return verdict.reason


FOUND = [
    (".", "find sub -maxdepth 0 -exec touch {}/.env \\;"),
    (".", "find . -maxdepth 0 -exec touch {}/.env \\;"),
    ("sub", "find . -maxdepth 0 -exec cat {}./secret/key \\;"),
    ("sub", "find . -maxdepth 0 -exec cat {}./outside.txt \\;"),
    ("sub", "find . -maxdepth 0 -exec grep -r . {}. \\;"),
    ("sub", "find . -name 'x*#' -exec sed 's|h|{}|' a.txt \\;"),
    ("sub", "find . -exec awk 'BEGIN {print \"{}\"}' \\;"),
    ("sub", "find . -exec sed {} \\;"),
    ("sub", "find . -exec sed -e {} \\;"),
    ("sub", "find . -exec sed -e {} {} \\;"),
    ("sub", "find . -exec sed -n -f {} \\;"),
    ("sub", "find . -exec awk {} \\;"),
    ("sub", "find . -exec mawk {} \\;"),
    ("sub", "find . -exec awk -f {} \\;"),
    ("sub", "find . -exec awk -v {} \\;"),
    ("sub", "find . -exec env {} \\;"),
    ("sub", "find . -exec env -u x {} \\;"),
    ("sub", "find . -exec timeout 5 {} \\;"),
    ("sub", "find . -exec env A={} cat \\;"),
    ("sub", "find . -exec python3 {} \\;"),
    ("sub", "find . -exec unzip {} \\;"),
    ("sub", "find . -exec date -r {} \\;"),
    ("sub", "find . -exec sort -o {} \\;"),
    ("sub", "find . -exec grep {} \\;"),
    ("sub", "find . -exec grep {} a.txt \\;"),
    ("sub", "find . -exec cp {} x \\;"),
    ("sub", "find . -exec cp a.txt {} \\;"),
    ("sub", "find . -exec ln -s a.txt {} \\;"),
    ("sub", "find . -exec find {} \\;"),
    ("sub", "find . -exec find {} +"),
    ("sub", "find . -exec find -newer {} \\;"),
    (".", "find . -maxdepth 0 -exec chmod 600 {} +"),
    (".", "find repo -exec touch {} +"),
    (".", "find repo -exec sed -i s/a/b/ {} +"),
    (".", "find plain -delete"),
]  # fmt: skip


@pytest.mark.req("R353")
@pytest.mark.parametrize(("cwd", "command"), FOUND, ids=range(len(FOUND)))
def test_a_name_that_find_puts_in_is_a_whole_operand_or_refused(workspace: Path, cwd: str, command: str) -> None:
    assert all(isinstance(judged(command, workspace, cwd, autonomy), Forbid) for autonomy in LEVELS)


@pytest.mark.parametrize(
    "command",
    ["find sub -exec cat {} \\;", "find sub -exec grep -l x {} +", "find sub -exec sed -n 1p {} \\;", "find sub -exec wc -l {} +",
     "find sub -exec awk '{print}' {} +", "find sub -exec echo {} \\;", "find sub/x -exec touch {} +", "find sub -exec timeout 5 cat {} \\;",
     "find sub -exec test -f {} \\;", "grep '{}' f.txt", "find repo -exec cat {} +", "find sub/x -exec rm {} +"],
)  # fmt: skip
def test_a_whole_name_that_find_puts_in_is_allowed_where_files_are_taken(workspace: Path, command: str) -> None:
    assert judged(command, workspace) is Risk.WRITE


@pytest.mark.parametrize(
    "argv",
    [["date", "-f", "+a/../secret/key"], ["date", "--file", "+a/../secret/key"], ["date", "-r", "+a/../secret/key"],
     ["date", "--reference", "+a/../secret/key"], ["date", "--file=+a/../secret/key"], ["date", "-f", "secret/key", "+%s"],
     ["date", "--fil", "+a/../secret/key"], ["date", "-uf", "+a/../secret/key"], ["date", "+%s", "0101"]],
)  # fmt: skip
def test_the_value_of_an_option_is_one_whatever_it_begins_with(workspace: Path, argv: list[str]) -> None:
    assert all(isinstance(judged(argv, workspace, autonomy=autonomy), Forbid) for autonomy in LEVELS)


THROUGH_LINKS = [
    "ls -RL linked", "ls -lL linked", "ls -R --dereference linked", "ls --deref linked", "chmod -RL u+r linked", "chmod -R -H u+r linked",
    "cp -r new into", "cp -a new into", "cp -r new/. into/new", "cp --recursive new/ into", "cp -r plain new into",
]  # fmt: skip


@pytest.mark.req("R352", "R353")
@pytest.mark.parametrize("command", THROUGH_LINKS)
def test_no_link_below_a_folder_is_followed_out_of_reach(workspace: Path, command: str) -> None:
    for folder in ("linked", "new", "into/new"):
        (workspace / folder).mkdir(parents=True)
    (workspace / "linked/out").symlink_to("../..")
    (workspace / "new/f").write_text("text")
    (workspace / "into/new/f").symlink_to("../../secret/key")
    assert all(isinstance(judged(command, workspace, autonomy=autonomy), Forbid) for autonomy in LEVELS)
    (workspace / "into/new/f").unlink()
    (workspace / "into/new/f").symlink_to("../../f.txt")
    assert judged("cp -r new into", workspace) is Risk.WRITE
    assert judged("ls -R linked", workspace) is Risk.WRITE


@pytest.mark.parametrize(
    "argv", [["-m", "sub"], ["-m", "f.txt"], ["--magic-file=sub"], ["--magic", "sub"], ["-bm", "sub"]]
)
def test_no_folder_of_files_is_read_for_an_option(workspace: Path, argv: list[str]) -> None:
    """`file -m folder` reads all that is in the folder, and repeats what it cannot understand of it."""
    assert "leave it out" in reason(["file", *argv, "plain/b.txt"], workspace)


SCRIPTS = [
    "sed -e '1e dd x' -e s/a/b/ f.txt", "sed -e s/a/b/ -e '1e dd x' f.txt", "sed '-e1e dd x' s/a/b/", "sed '1e dd x' s/a/b/",
    "sed --expression='1e dd x' s/a/b/", "sed s/a/b/ f.txt -e '1e dd x'", "sed -n -e '1e dd x' 1p",
]  # fmt: skip


@pytest.mark.req("R354")
@pytest.mark.parametrize("command", SCRIPTS)
def test_a_harmless_script_does_not_vouch_for_another_one_beside_it(workspace: Path, command: str) -> None:
    (workspace / "s/a/b").mkdir(parents=True)
    for autonomy in LEVELS:
        bounds = Bounds(autonomy=autonomy, shell_allow=ALLOWED, forbidden_commands=("dd",))  # type: ignore[arg-type]
        verdict = classify(run, run.input(command=command), ToolContext(workspace=workspace, bounds=bounds))
        assert isinstance(verdict, Forbid)
    linked = command.replace("dd x", "ln x")
    assert "use two calls" in reason(f"{linked}; cat sub/a.txt", workspace)


@pytest.mark.req("R356", "R362")
def test_the_folder_itself_is_not_removed_nor_opened_to_everybody(workspace: Path) -> None:
    for target in (".", "./", ".//.", str(workspace), f"{workspace}/", "", "sub/.."):
        assert isinstance(judged(["rm", "-r", target], workspace), Forbid)
    assert "would remove everything" in reason(["rm", "-r", f"{workspace}/sub"], workspace, cwd="sub/x")
    assert "would remove everything" in reason(["rm", "-r", f"{workspace}/sub"], workspace, cwd="sub")
    assert judged(["rm", "-r", f"{workspace}/sub"], workspace) is Risk.WRITE
    for mode in ("1777", "7777", "00777"):
        assert "chmod -R 777" in reason(["chmod", "-R", mode, "sub"], workspace)


@pytest.mark.parametrize(
    "command", ["date -r f.txt +%s", "date --reference f.txt", "date -d now +%F", "date --date now"]
)
def test_a_date_is_written_without_doubt(workspace: Path, command: str) -> None:
    assert judged(command, workspace) is Risk.WRITE


UNKNOWN = [
    "vim f.txt -c ':!id'", "emacs f.txt --eval x", "gdb prog -ex x", "m4 f.txt", "ed f.txt", "sqlite3 f.db", "rg --pre x y", "fd -x ls",
    "ag --pager x y", "gcc -wrapper x f.c", "pytest", "uv run x", "go run x", "java x", "cmake -P x", "jq .x f.txt", "patch f.txt", "unzip x.zip",
    "ar x y.a", "python3 f.py", "mawk 'BEGIN{system(\"id\")}'", "gawk '@load \"x\"'", "nawk '{print > \"x\"}' f.txt",
    "gawk 'BEGIN{SYMTAB[\"x\"]=1}'", "mawk -f f.txt", "gawk -e x f.txt", "split f.txt", "git log",
]  # fmt: skip


@pytest.mark.req("R351")
@pytest.mark.parametrize("command", UNKNOWN, ids=range(len(UNKNOWN)))
def test_a_program_whose_arguments_are_not_known_is_in_doubt_even_if_it_is_allowed(
    workspace: Path, command: str
) -> None:
    assert judged(command, workspace) is Risk.DESTRUCTIVE
    assert isinstance(judged(command, workspace, autonomy="supervised"), Forbid)


def test_every_kind_of_awk_is_read_like_awk(workspace: Path) -> None:
    for name in ("awk", "gawk", "mawk", "nawk"):
        assert judged(f"{name} '{{print $1}}' f.txt", workspace) is Risk.WRITE
        assert isinstance(judged(f"{name} '{{print $1}}' secret/key", workspace), Forbid)


STARTING = [
    ["zip", "x.zip", "f.txt", "-TTsh #"], ["zip", "-rTTsh #", "x.zip", "f.txt"], ["zip", "-TT", "sh #", "x.zip", "f.txt"],
    ["diff", "-l", "f.txt", "sub/a.txt"], ["diff", "--paginate", "f.txt", "sub/a.txt"], ["diff", "-ul", "f.txt", "sub/a.txt"],
    ["diff", "--pag", "f.txt", "sub/a.txt"], ["file", "-z", "f.txt"], ["file", "-bz", "f.txt"], ["file", "--uncompress", "f.txt"],
    ["file", "-Z", "f.txt"],
]  # fmt: skip


@pytest.mark.parametrize("argv", STARTING, ids=range(len(STARTING)))
def test_an_option_that_starts_a_program_is_refused_however_it_is_written(workspace: Path, argv: list[str]) -> None:
    assert "start" in reason(argv, workspace)


DERIVED = [
    "cp -b -S et f.txt secr", "cp --backup f.txt secr", "cp --suffix=et f.txt secr", "mv -S et -b f.txt secr", "cp -bSet f.txt secr",
    "sed -iet s/a/b/ secr", "sed -i.bak s/a/b/ f.txt", "sed -ni.bak s/a/b/ f.txt", "sed --in-place=et s/a/b/ secr", "sed --in=et s/a/b/ secr",
    "gunzip -f secret.gz", "csplit -f secr -b et f.txt 1", "csplit -fsecr -bet f.txt 1", "csplit --prefix=secr f.txt 1", "split f.txt secr",
    "cp sub/.env .", "cp sub/.env ./", "cp -r sub/. .", "cp -r sub new", "cp -rT sub .", "cp -t . sub/.env", "cp --target-directory=. sub/.env",
    "mv sub/.env .", "mv sub new", "mv sub/x/../.env .", "cp f.txt .env", "cp -r sub/ .env", "cp --parents sub/a.txt .", "touch .env",
    "mv secret other", "cp -r . plain", "mkdir new && cp sub/.env new", "rm -r plain && cp -r sub plain", "rmdir plain; mv sub plain", "cp -rL sub plain",
]  # fmt: skip


@pytest.mark.req("R353")
@pytest.mark.parametrize("command", DERIVED, ids=range(len(DERIVED)))
def test_a_name_that_a_program_makes_up_does_not_reach_a_forbidden_path(workspace: Path, command: str) -> None:
    assert all(isinstance(judged(command, workspace, autonomy=autonomy), Forbid) for autonomy in LEVELS)


@pytest.mark.parametrize(
    "command",
    ["cp f.txt g.txt", "cp f.txt .", "cp f.txt plain sub", "cp -r plain sub/x", "cp -rp plain copy", "mv f.txt sub", "mv f.txt .", "mv plain other",
     "sed -i s/a/b/ f.txt", "rm f.txt", "rm -r plain", "chmod 600 f.txt", "chmod -R u+w plain", "tee g.txt"],
)  # fmt: skip
def test_an_ordinary_change_is_allowed(workspace: Path, command: str) -> None:
    assert judged(command, workspace) is Risk.WRITE


LINKS = [
    "mv d/l l && cat l/key", "mv d/l l; cat l/key", "mv d/l l | cat l/key", "cat l/key | mv d/l l", "env mv d/l l && cat l/key",
    "cp -a d/l l && cat l/key", "cp -P d/l l && cat l/key", "cp --no-dereference d/l l && cat l/key", "cp -r d e && cat e/l/key",
    "ln -s sub l && cat l/key", "tar xf x.tar && cat l/key", "python3 f.py && cat l/key", "mv d/l l && echo x > l/key",
    "mv d/l l && true && grep x l/key", "find d -exec mv {} l \\; && cat l/key", "awk 'BEGIN{system(\"mv d/l l\")}' && cat l/key",
    "ln -s secret x", "ln -s missing x", "ln -s ../secret sub/x", "ln -s key secret/x", "ln -s f.txt plain", "ln -s f.txt", "ln -s f.txt a b",
    "ln -sT f.txt a", "ln -sr f.txt a", "ln -sb f.txt a", "ln secret/key a", "ln -s / a", "ln -s a.txt a", "ln -s repo/.git a",
]  # fmt: skip


@pytest.mark.req("R353")
@pytest.mark.parametrize("command", LINKS, ids=range(len(LINKS)))
def test_no_link_changes_what_a_path_means_after_it_was_judged(workspace: Path, command: str) -> None:
    (workspace / "d").mkdir()
    (workspace / "d/l").symlink_to("../plain")
    assert all(isinstance(judged(command, workspace, autonomy=autonomy), Forbid) for autonomy in LEVELS)


@pytest.mark.parametrize(
    "command",
    ["mv f.txt g.txt && echo done", "cp f.txt g.txt && cat g.txt", "mkdir n && touch n/x && ls n", "ln -s f.txt g", "ln -s a.txt sub/b",
     "mv f.txt g.txt && ls", "cat f.txt | tee g.txt", "timeout 5 grep x f.txt && cat f.txt"],
)  # fmt: skip
def test_what_comes_after_a_program_that_makes_no_links_is_allowed(workspace: Path, command: str) -> None:
    assert judged(command, workspace) is Risk.WRITE


GIT = [
    "echo hacked > repo/.git/hooks/post-commit", "cat repo/.git/config", "grep -rn core repo/.git", "cat repo/.GIT/config", "ls repo/.git",
    "cat alias/config", "touch repo/.git/x", "rm -r repo", "rm -rf repo/.git", "chmod -R u+w repo", "mv repo other", "cp -r repo other",
    "cp f.txt repo/.git", "mkdir .git", "tee repo/.git/config", "find repo/.git", "cat repo/.g*/config", "python3 repo/.git/x",
    "cat < repo/.git/config", "cd repo/.git && ls", "mv plain .git", "ln -s f.txt .git",
]  # fmt: skip


@pytest.mark.parametrize("command", GIT, ids=range(len(GIT)))
def test_nothing_of_gits_own_is_named_or_changed(workspace: Path, command: str) -> None:
    (workspace / "alias").symlink_to("repo/.git")
    assert all(isinstance(judged(command, workspace, autonomy=autonomy), Forbid) for autonomy in LEVELS)


@pytest.mark.parametrize(
    "command", ["grep -rn x repo", "find repo -name c.txt", "ls -R repo", "cat repo/c.txt", "echo x > repo/.gitignore",
                "grep -r --exclude-dir=.git x repo", "find repo -not -path '*/.git/*'"]
)  # fmt: skip
def test_reading_through_a_repository_is_allowed(workspace: Path, command: str) -> None:
    assert judged(command, workspace) is Risk.WRITE


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("git status", "tools.git.status()"),
        ("cp a b", "tools.files.write"),
        ("sed -i s/a/b/ f.txt", "tools.files.read"),
        ("curl http://x.test", "tools.http.get"),
        ("wget http://x.test", "tools.http.get"),
        ("python3 x.py", "you are in Python already"),
        ("rm f.txt", "tools.files.delete"),
        ("find . -delete", "`find -delete` deletes files"),
        ("for f in *.md; do wc -l \"$f\"; done", "`for` is not supported; decide and loop in Python"),
        ("while true; do echo $x; done", "`while` is not supported"),
        ("function f { ls; }; f", "`function` is not supported"),
        ("set -e; ls", "join commands with &&"),
        ("echo `ls`", "command substitution is not supported"),
        ("echo \"$(ls)\"", "put its output in with an f-string"),
        ("wc -c <<< text", "`<<<` is not supported"),
        ("ls ..", "'..' leads out of the workspace"),
        ("jq . f.txt", "is not on the allowlist"),
    ],
)  # fmt: skip
def test_a_refusal_says_what_to_write_instead(workspace: Path, command: str, sentence: str) -> None:
    ctx = ToolContext(workspace=workspace, bounds=Bounds(shell_allow=("ls", "cat", "find", "wc", "echo")))
    opinion = classify(run, run.input(command=command), ctx)
    assert isinstance(opinion, Forbid)
    assert sentence in opinion.reason
    assert len(opinion.reason) < 220
