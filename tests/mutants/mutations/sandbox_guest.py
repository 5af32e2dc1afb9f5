"""Mutations of the code inside a sandbox. They reach no engine, only a process that runs that code by itself."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutation import Mutation

__all__ = ["MUTATIONS"]

_TESTS: Final = "tests/sandbox/test_guest_by_itself.py"
_GUEST: Final = "coilclaw.sandbox.guest"


def _case(name: str) -> str:
    return f"{_TESTS} -k 'behind and {name}'"


MUTATIONS: Final = (
    Mutation(
        f"{_GUEST}.program:_warnings",
        "        end()\n",
        "        pass\n",
        _case("value"),
        "a call that showing the value begins is waited for",
    ),
    Mutation(
        f"{_GUEST}.program:run_program",
        "fields = _error_json(error, name)",
        "ending.give_up()\n        fields = _error_json(error, name)\n        ending.give_up = int  # type: ignore",
        _case("error"),
        "a call that showing the error begins is given up",
    ),
    Mutation(
        f"{_GUEST}.program:run_program",
        "    except MemoryError:\n        ending.give_up()\n",
        "    except MemoryError:\n",
        _case("memory"),
        "a snippet without memory gives up what it began",
    ),
    Mutation(
        f"{_GUEST}.program:_warnings",
        "for _ in range(2):",
        "for _ in range(1):",
        _case("told"),
        "a call that a warning begins is ended",
    ),
    Mutation(
        f"{_GUEST}.loop:use_snippet_loops",
        "return new_loop(completions)",
        "return SnippetLoop(completions)",
        _case("loop"),
        "tasks on a loop of the snippet's own are waited for",
    ),
    Mutation(
        f"{_GUEST}.ending:Exits.run",
        "except BaseException as error:",
        "except Exception as error:",
        _case("exit"),
        "whatever a function of atexit raises, the others are called",
    ),
    Mutation(
        f"{_GUEST}.ending:Ending._receive",
        "is_left = bool(self._completions.pending) or any(loop.unfinished() for loop in loops)",
        "is_left = False",
        _case("chain"),
        "what the last task begins is waited for",
    ),
    Mutation(
        f"{_GUEST}.loop:end_tasks",
        "if cancel and task not in loop.closing:",
        "if cancel:",
        _case("generator"),
        "the clean-up of a generator is not cancelled",
    ),
    Mutation(
        f"{_GUEST}.source:_compile_body",
        "flags = code.co_flags & ~(inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS)",
        "raise SyntaxError",
        _case("return"),
        "a return at the top level is a return",
    ),
    Mutation(
        f"{_GUEST}.executor:CallFuture._finish",
        "if not self.done():",
        "if True:",
        _case("answers"),
        "a future that has a result keeps no other answer back",
    ),
    Mutation(
        f"{_GUEST}.executor:InlineExecutor.shutdown",
        "if wait:",
        "if not wait:",
        _case("pool"),
        "the futures of a pool that was left are done",
    ),
    Mutation(
        f"{_GUEST}.run_warnings:RunWarnings.add",
        "next(lesser, key) if kind in _FIRST else key",
        "key",
        _case("warnings"),
        "small warnings push out no important one",
    ),
    Mutation(
        f"{_GUEST}.source:without_fences",
        "if _does_something(line.strip())",
        "if False",
        _case("fence"),
        "code outside the fence is told of",
    ),
    Mutation(
        f"{_GUEST}.pending_calls:_need_room",
        "if calls:",
        "if False:",
        _case("stack"),
        "an answer is not taken where the stack has no room for it",
    ),
)
