"""Commands of a session, each through the app: `/tools`, `/memory`, `/policy`, `/receipts`, `/approve`, `/estop`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from coilclaw.bridge import allowed_tools, first_sentence
from coilclaw.cli.opening import this_person
from coilclaw.cli.paging import Row, ask
from coilclaw.cli.pending_calls import approval_rows, sent_rows, short_arguments
from coilclaw.cli.receipt import print_receipt
from coilclaw.cli.terminal import counted, say, say_wrapped, terminal_size, warn
from coilclaw.sdk import OperatorError, Risk
from coilclaw.sdk.legible import as_name, one_line

if TYPE_CHECKING:
    from coilclaw.agent import Answer
    from coilclaw.app import ApprovalRequest, CoilClaw
    from coilclaw.cli.agent.conversation import TerminalConversation

__all__ = ["COMMANDS", "SlashCommands"]

COMMANDS: Final[Mapping[str, str]] = {
    "/tools": "list the tools that this conversation may call",
    "/memory": "search earlier conversations: /memory QUERY",
    "/policy": "show the autonomy and the workspace boundary",
    "/receipts": "list the latest receipts",
    "/approve": "decide about calls of this conversation; /approve all, or one by its ID",
    "/resume": "continue the last exchange, if it was interrupted or failed",
    "/estop": "stop every tool at once; /estop clear ends that",
    "/help": "list these commands",
    "/exit": "end the session",
}
_LATEST: Final = 10
_NAME_COLUMNS: Final = 22
_HITS: Final = 5


class SlashCommands:
    """Carries out a line that begins with a slash."""

    def __init__(self, claw: CoilClaw, conversation: TerminalConversation) -> None:
        self._claw = claw
        self._conversation = conversation

    async def run(self, line: str) -> Answer | bool | None:
        """Return the answer of an exchange that the command continued, or whether the session goes on."""
        name, _, rest = line.strip().partition(" ")
        match name, rest.strip():
            case "/exit" | "/quit", _:
                return False
            case "/tools", _:
                self._tools()
            case "/memory", query:
                self._memory(query)
            case "/policy", _:
                self._policy()
            case "/receipts", _:
                for each in self._claw.receipts.latest(_LATEST):
                    print_receipt(each)
            case "/approve", approval_id:
                if self._approve(approval_id):
                    return await self._conversation.resume()
            case "/resume", _:
                if self._conversation.id is None:
                    raise OperatorError("nothing was said yet", hint="say something first")
                return await self._conversation.resume()
            case "/estop", rest:
                self._estop(rest)
            case "/help", _:
                for command, does in COMMANDS.items():
                    say(f"{command:<10} {does}")
            case _:
                raise OperatorError(f"there is no command {as_name(name, 80)}", hint="/help lists them")
        return True

    def _tools(self) -> None:
        tools, bound = self._claw.tools, self._claw.settings.config.channels.cli.tools_allow
        allowed = None if bound is None else allowed_tools(tools.registry, bound)
        found = [each for each in tools if allowed is None or each.id in allowed]
        columns = terminal_size(sys.stdout)[0] if sys.stdout.isatty() else 80
        for each in found:
            decision = tools.policy.decide(each, each.risk).decision.value
            mark = "destructive: " if each.risk is Risk.DESTRUCTIVE else ""
            # A few long names must not take the room of all descriptions.
            lead = f"{as_name(each.id):<{_NAME_COLUMNS}}  {decision:<5}  {mark}"
            about = one_line(first_sentence(each.description, max(20, columns - len(lead) - 2)))
            say(f"{lead}{about}".rstrip())

    def _memory(self, query: str) -> None:
        if not query:
            raise OperatorError("say what to look for", hint="/memory invoice from Ana")
        hits = self._claw.memory.search(query, limit=_HITS)
        for hit in hits:
            say(f"{as_name(hit.conversation_id)}  {one_line(hit.timestamp)[:16]}  {hit.source}", dim=True)
            say_wrapped("  ", one_line(hit.excerpt))
        if not hits:
            say("Nothing was said about that.", err=True)

    def _policy(self) -> None:
        config = self._claw.settings.config
        does = {
            "readonly": "reads run, everything else is denied",
            "supervised": "reads run, everything else needs approval",
            "full": "everything runs unless it is forbidden",
        }
        say(f"Autonomy:   {config.security.autonomy} ({does[config.security.autonomy]})")
        say_wrapped("Workspace:  ", as_name(str(config.workspace_dir)))
        say("Boundary:   tools for files and programs reach nothing outside the workspace")
        forbidden = ", ".join(as_name(str(each)) for each in config.security.forbidden_paths)
        say_wrapped("Forbidden:  ", forbidden or "nothing else")
        if config.channels.cli.tools_allow is not None:
            say_wrapped("Tools:      ", one_line(", ".join(config.channels.cli.tools_allow)))
        say(f"Rules:      {len(config.policy.rules)} in the configuration; `coilclaw policy explain TOOL` says more")
        if stopped := self._claw.estop.state:
            warn(f"{stopped}. Every call is refused until /estop clear.")

    def _approve(self, approval_id: str) -> bool:
        """Decide about what waits: here, or with `all` or an ID elsewhere. True if this conversation can go on now."""
        approvals = self._claw.approvals
        mine = self._runs()
        waiting = [approvals.open_request(approval_id)] if approval_id not in ("", "all") else list(approvals.pending())
        if not approval_id:
            others = [each for each in waiting if each.run_id not in mine]
            waiting = [each for each in waiting if each.run_id in mine]
            if others:
                say(f"{counted(len(others), 'call')} of others wait, too: /approve all shows them.", err=True)
        if not waiting:
            say("Nothing waits here." if not approval_id else "Nothing waits for approval.", err=True)
        for request in waiting:
            if request.status != "pending":
                say(f"{request.id} is {one_line(request.status)} already.", err=True)
            elif not sys.stdin.isatty():
                say(f"{request.id}  {as_name(request.tool)}  {self._whose(request)}")
                say_wrapped("  ", short_arguments(request.arguments))
            else:
                self._decide(request)
        left = [each for each in approvals.pending() if each.run_id in mine]
        return bool(mine) and not left and any(each.run_id in mine for each in waiting)

    def _runs(self) -> set[str]:
        """The runs of this conversation that wait."""
        if self._conversation.id is None:
            return set()
        runs = self._claw.runs.of_conversation(self._conversation.id)
        return {each.run_id for each in runs if each.is_waiting}

    def _whose(self, request: ApprovalRequest) -> str:
        """Where a call comes from, as seen from here."""
        conversation = self._claw.runs.find(request.run_id).header.conversation_id
        if conversation == self._conversation.id:
            return "this conversation"
        return as_name(conversation or request.run_id)

    def _decide(self, request: ApprovalRequest) -> None:
        workspace = self._claw.runs.find(request.run_id).header.workspace
        facts = self._claw.approvals.explain(request.id)
        rows = approval_rows(facts, sent_rows(facts, workspace), full=False)
        whose = self._whose(request)
        is_mine = whose == "this conversation"
        elsewhere = () if is_mine else (Row(""), Row("", f"Not of this conversation: of {whose}", "yellow", bold=True))
        answer = ask((*rows, *elsewhere), "Approve?", may_wait=True)
        if answer != "later":
            decided = self._claw.approvals.decide(request.id, approved=answer == "yes", by=this_person())
            say(f"{'Approved' if answer == 'yes' else 'Denied'} {decided[0].id}.", err=True)

    def _estop(self, rest: str) -> None:
        stop = self._claw.estop
        if rest == "clear":
            done = stop.clear(by=this_person())
            say("Tools may be called again." if done.changed else "No stop is set.", err=True)
            return
        done = stop.set(by=this_person(), reason=rest or None)
        say("All tools are stopped. /estop clear ends it.", err=True, fg="red")
        if done.problem is not None:
            warn(f"the stop holds, but its receipt could not be written: {done.problem}")
