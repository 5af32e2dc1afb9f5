"""Mutations of the integrations."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutation import Mutation

__all__ = ["MUTATIONS"]

_FILES: Final = "tests/integrations/test_files.py tests/integrations/test_files_search.py"
_SHELL: Final = "tests/integrations/shell/test_verdict.py"
_VERDICT: Final = _SHELL + " -k 'not disguise and not no_text and not every_match and not more_matches'"
_DESTRUCTION: Final = _SHELL + " -k destructive_pattern"

MUTATIONS: Final = (
    Mutation(
        "coilclaw.integrations.files:_writable",
        "if not _is_one(input.text, input.data, input.content):",
        "if False:",
        _FILES + " -k could_only_fail",
        "nobody is asked about a write that could only fail",
    ),
    Mutation(
        "coilclaw.integrations.files.paths:forbidden",
        'if ".." in PurePosixPath(plain).parts:',
        "if False:",
        _FILES,
        "'..' leads out of a folder",
    ),
    Mutation(
        "coilclaw.integrations.files.paths:forbidden",
        'plain.startswith(("/", "~"))',
        'plain.startswith("~")',
        _FILES,
        "paths are relative to the workspace",
    ),
    Mutation(
        "coilclaw.integrations.files.paths:forbidden",
        "if target.is_relative_to(place) or target.is_relative_to(os.path.realpath(place)):",
        "if target == place:",
        _FILES,
        "what is under a forbidden path is forbidden",
    ),
    Mutation(
        "coilclaw.integrations.files.paths:_FOLDER",
        " | os.O_NOFOLLOW",
        "",
        _FILES,
        "no link on the way is followed",
    ),
    Mutation(
        "coilclaw.integrations.files.paths:open_regular",
        "os.O_RDONLY | os.O_NOFOLLOW",
        "os.O_RDONLY",
        _FILES,
        "a link at the end is not followed",
    ),
    Mutation(
        "coilclaw.integrations.files:list_files",
        "if forbidden(entry.path, ctx):",
        "if False:",
        _FILES,
        "a listing leaves forbidden paths out",
    ),
    Mutation(
        "coilclaw.integrations.files.search:_files",
        'if forbidden("/".join(inner), ctx):',
        "if False:",
        _FILES,
        "a search leaves forbidden paths out",
    ),
    Mutation(
        "coilclaw.integrations.files:write",
        "ctx.will_write(data)",
        "pass",
        _FILES,
        "what is written is announced before it is there",
    ),
    Mutation(
        "coilclaw.integrations.files.paths:forbidden",
        'part.casefold() == ".git"',
        'part == ".git"',
        "tests/integrations/git/test_forbidden_paths.py::test_gits_own_files_are_out_of_reach_of_the_tools_for_files",
        "git's own files are out of reach however they are written",
    ),
    Mutation(
        "coilclaw.integrations.files.paths:forbidden_on_the_way",
        "if is_link and (last or number < len(parts)):",
        "if False:",
        "tests/integrations/test_files.py -k on_the_way",
        "a link on the way is denied",
    ),
    Mutation(
        "coilclaw.integrations.files.paths:forbidden_on_the_way",
        "last or number < len(parts)",
        "last",
        "tests/integrations/test_files.py -k 'on_the_way or is_deleted'",
        "a link on the way to a link is denied",
    ),
    Mutation(
        "coilclaw.integrations.shell.patterns:_Search._word",
        "self._places.check(match)",
        "pass",
        _SHELL + " -k meet_a_forbidden",
        "every match of a pattern is checked",
    ),
    Mutation(
        "coilclaw.integrations.shell.patterns:_Search._word",
        "if self._matches > _MOST_MATCHES:",
        "if False:",
        _SHELL + " -k more_matches",
        "matches are bounded",
    ),
    Mutation(
        "coilclaw.integrations.shell.patterns:_Search._visit",
        "if self._visits > _MOST_VISITS:",
        "if False:",
        "tests/integrations/shell/test_effort.py -k more_files",
        "the work of finding matches is bounded",
    ),
    Mutation(
        "coilclaw.integrations.shell.patterns:_Search.check_settled",
        "if not changes_nothing(other.argv):",
        "if False:",
        _SHELL + " -k itself_may_make",
        "no pattern meets what the same command makes",
    ),
    Mutation(
        "coilclaw.integrations.shell.verdict:_Judge._check_destruction",
        'if name == "dd" and',
        "if False and",
        _DESTRUCTION,
        "dd is blocked",
    ),
    Mutation(
        "coilclaw.integrations.shell.verdict:_Judge._check_destruction",
        'if name in ("chown", "chgrp") and recursive:',
        "if False:",
        _DESTRUCTION,
        "chown -R is blocked",
    ),
    Mutation(
        "coilclaw.integrations.shell.verdict:_Judge._check_destruction",
        'if name == "chmod" and recursive and',
        "if False and",
        _DESTRUCTION,
        "chmod -R 777 is blocked",
    ),
    Mutation(
        "coilclaw.integrations.shell.verdict:_Judge._check_destruction",
        "(*arguments, *patterns) if",
        "arguments if",
        _DESTRUCTION,
        "rm -r of everything is blocked before its pattern is replaced",
    ),
    Mutation(
        "coilclaw.integrations.shell.verdict:_Judge._check_destruction",
        "if self._places.contains_start(text) or _EVERYTHING.fullmatch(text):",
        "if False:",
        _DESTRUCTION,
        "rm -r of everything is blocked",
    ),
    Mutation(
        "coilclaw.integrations.shell.verdict:_Judge._command",
        "if name in LAUNCHERS or",
        "if",
        _VERDICT,
        "programs that start others stay in doubt",
    ),
    Mutation(
        "coilclaw.integrations.shell.verdict:_Judge._command",
        "if _INPUT in arguments and name not in DATA_ONLY:",
        "if False:",
        _SHELL + " -k unseen",
        "what xargs adds is not known",
    ),
    Mutation(
        "coilclaw.integrations.shell.verdict:_Judge._command",
        "self._check_forbidden(name)",
        "pass",
        _VERDICT,
        "a forbidden program is not started",
    ),
    Mutation(
        "coilclaw.integrations.shell.verdict:_Judge._started",
        "if not is_harmless_variable(variable):",
        "if False:",
        _VERDICT,
        "no variable changes what programs do",
    ),
    Mutation(
        "coilclaw.integrations.shell.verdict:_Judge.pipeline",
        "self._places.check(redirection.target)",
        "pass",
        _VERDICT,
        "output stays in the workspace",
    ),
    Mutation(
        "coilclaw.integrations.shell.verdict:verdict",
        'if judge.doubts and bounds.autonomy != "full":',
        "if False:",
        _SHELL + " -k not_certainly",
        "what is in doubt is forbidden below full autonomy",
    ),
    Mutation(
        "coilclaw.integrations.shell.arguments:Arguments.check",
        "self._check_starting(program, arguments)",
        "pass",
        _VERDICT,
        "an option that starts a program is refused",
    ),
    Mutation(
        "coilclaw.integrations.shell.arguments:Arguments._find",
        'raise Refused("`find -delete` deletes',
        'print("`find -delete` deletes',
        _VERDICT,
        "find deletes nothing",
    ),
    Mutation(
        "coilclaw.integrations.shell.arguments:Arguments._find_start",
        "self.start(command)",
        "pass",
        _VERDICT,
        "what find starts is judged",
    ),
    Mutation(
        "coilclaw.integrations.shell.places:Places.check",
        "if real != place else",
        "if False else",
        _VERDICT,
        "no link leads out of the workspace",
    ),
    Mutation(
        "coilclaw.integrations.shell.places:Places._check_place",
        "if (recursive or writes) and _is_below(forbidden, place) and (writes or os.path.lexists(forbidden)):",
        "if False:",
        _SHELL + " -k meet_a_forbidden",
        "no program meets a forbidden path on its way",
    ),
    Mutation(
        "coilclaw.integrations.shell.places:Places._check_place",
        "if _is_below(place, forbidden):",
        "if False:",
        _SHELL + " -k meet_a_forbidden",
        "what is under a forbidden path is forbidden to programs",
    ),
    Mutation(
        "coilclaw.integrations.shell.places:Places.folder",
        "self._real(place) != place or ",
        "",
        _SHELL + " -k change_of_folder",
        "no command starts in a folder behind a link",
    ),
    Mutation(
        "coilclaw.integrations.shell.arguments:Arguments._find",
        'elif test == "-exec":',
        'elif test in ("-exec", "-execdir"):',
        "tests/integrations/shell/test_find.py",
        "what find starts in another folder is not judged as if it were started here",
    ),
    Mutation(
        "coilclaw.integrations.shell.arguments:Arguments._find",
        'elif test in ("-ok", "-okdir"):\n                raise Refused(',
        'elif test == "-ok":\n                position = self._find_start(arguments, position, folders)\n'
        "            elif False:\n                raise Refused(",
        "tests/integrations/shell/test_find.py",
        "find asks nobody before it starts something",
    ),
    Mutation(
        "coilclaw.integrations.shell.arguments:Arguments._find_start",
        'if arguments[end] == "+" and arguments[end - 1] == "{}":',
        'if arguments[end] == "+":',
        "tests/integrations/shell/test_find.py",
        "a plus ends a command of find behind a name that it puts in, and nowhere else",
    ),
    Mutation(
        "coilclaw.integrations.shell.execution:execute",
        "hidden=_hidden(ctx, workspace),",
        "",
        "tests/integrations/shell/test_execution.py::test_the_kernel_hides_forbidden_paths_where_it_can",
        "the kernel hides forbidden paths",
    ),
    Mutation(
        "coilclaw.integrations.shell:run",
        "raise ToolFailure(judged.reason",
        "return ToolFailure(judged.reason",
        "tests/integrations/shell/test_execution.py::test_a_verdict_is_asked_for_again_before_the_run",
        "a command is judged again before it runs",
    ),
    Mutation(
        "coilclaw.integrations.git.repository:Repository.commit",
        'f"{ref}^{{commit}}"',
        "ref",
        (
            "tests/integrations/git/test_forbidden_paths.py::test_ids_of_folders_and_contents_are_not_compared "
            "tests/integrations/git/test_forbidden_paths.py::test_names_of_folders_and_contents_are_not_compared"
        ),
        "only commits are compared and shown",
    ),
    Mutation(
        "coilclaw.integrations.git.repository:problem_with_ref",
        '".." in ref or ',
        "",
        "tests/integrations/git/test_reading.py::test_a_ref_that_could_be_anything_else_is_refused",
        "a ref is no range",
    ),
    Mutation(
        "coilclaw.integrations.git.repository:_REF",
        "[A-Za-z0-9_@][",
        "[A-Za-z0-9_@:\\\\-][",
        "tests/integrations/git/test_reading.py::test_a_ref_that_could_be_anything_else_is_refused",
        "a ref is no option and no path",
    ),
    Mutation(
        "coilclaw.integrations.git.repository:_check_inside",
        "if _kind(inside / name) is not None:",
        "if False:",
        "tests/integrations/git/test_hostile_repositories.py::test_a_repository_that_is_kept_elsewhere_is_not_read",
        "a repository that leads elsewhere is not read",
    ),
    Mutation(
        "coilclaw.integrations.git.repository:_check_inside",
        "if (Path(folder) / name).is_symlink():",
        "if False:",
        "tests/integrations/git/test_hostile_repositories.py::test_a_repository_that_is_kept_elsewhere_is_not_read",
        "a reference that is a link is not followed",
    ),
    Mutation(
        "coilclaw.integrations.git.repository:Repository.paths",
        "self.hidden if contents else ()",
        "()",
        (
            "tests/integrations/git/test_reading.py::test_what_is_forbidden_is_left_out "
            "tests/integrations/git/test_forbidden_paths.py::test_commits_show_nothing_of_a_forbidden_path"
        ),
        "git shows nothing of a forbidden path",
    ),
    Mutation(
        "coilclaw.integrations.sop:confirm",
        'policy="ask"',
        'policy="allow"',
        "tests/agent/sop/test_runner.py -k autonomy",
        "an approval step always asks",
    ),
    Mutation(
        "coilclaw.integrations.user:ask",
        "if answer is None:",
        "if False:",
        "tests/integrations/test_user.py",
        "where nobody answers, the call says so",
    ),
    Mutation(
        "coilclaw.integrations.pdf.parser:_confine",
        "landlock.restrict(rules)",
        "pass",
        "tests/integrations/test_pdf.py -k neither",
        "the parser of PDF files reads no files of others",
    ),
    Mutation(
        "coilclaw.integrations.pdf:extract",
        "classify=_inside,",
        "",
        "tests/integrations/test_pdf.py -k outside",
        "PDF files outside the workspace are out of reach",
    ),
    Mutation(
        "coilclaw.integrations.web_search:_is_result",
        'url.startswith(("https://", "http://"))',
        "bool(url)",
        "tests/integrations/test_web_search.py",
        "results are web pages",
    ),
)
