"""The public API: one runtime under every surface. Each name is imported when it is first used."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.app.app import CoilClaw
    from coilclaw.app.approvals import ApprovalRequest, Approvals, Windows
    from coilclaw.app.arguments import RESERVED_NAMES
    from coilclaw.app.background import Background
    from coilclaw.app.call_text import argument_rows, call_rows, runs_rows
    from coilclaw.app.code_tokens import code_rows
    from coilclaw.app.composition import Composition
    from coilclaw.app.difference import Row, difference_rows, file_lines, odd_encoding
    from coilclaw.app.engines import Engines
    from coilclaw.app.errors import AppClosed, BadArgument, TooManyRuns, WouldBlock
    from coilclaw.app.estop import Estop, StopChange
    from coilclaw.app.examples import Trial, try_example
    from coilclaw.app.handle import RunHandle
    from coilclaw.app.notices import Notices
    from coilclaw.app.quarantine import HeldFile, Quarantine
    from coilclaw.app.receipts import Receipts
    from coilclaw.app.report import CallReport, Report, UnknownCall
    from coilclaw.app.runs import Runs
    from coilclaw.app.server_note import ServerNote, noted_server, running_servers
    from coilclaw.app.servers import open_servers
    from coilclaw.app.services import make_policy
    from coilclaw.app.stores import Stores, open_stores, restart_log
    from coilclaw.app.toolbox import Toolbox, installed_registry
    from coilclaw.app.tools import Tools
    from coilclaw.bridge import Caller
    from coilclaw.policy import (
        AlreadyDecided,
        Answer,
        DamagedApproval,
        NoSuchApproval,
        NoSuchWindow,
        Question,
        Window,
    )
    from coilclaw.runs import (
        ApprovedPlan,
        Comparison,
        NoSuchRun,
        NotCancellable,
        NotResumable,
        Rehearsal,
        RunPage,
        RunRecord,
    )
    from coilclaw.sandbox import Deadline, Limits
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "app": "CoilClaw",
            "arguments": "RESERVED_NAMES",
            "approvals": "ApprovalRequest Approvals Windows",
            "background": "Background",
            "call_text": "argument_rows call_rows runs_rows",
            "code_tokens": "code_rows",
            "composition": "Composition",
            "difference": "Row difference_rows file_lines odd_encoding",
            "engines": "Engines",
            "errors": "AppClosed BadArgument TooManyRuns WouldBlock",
            "estop": "Estop StopChange",
            "examples": "Trial try_example",
            "handle": "RunHandle",
            "notices": "Notices",
            "quarantine": "HeldFile Quarantine",
            "receipts": "Receipts",
            "report": "CallReport Report UnknownCall",
            "runs": "Runs",
            "server_note": "ServerNote noted_server running_servers",
            "servers": "open_servers",
            "services": "make_policy",
            "stores": "Stores open_stores restart_log",
            "toolbox": "Toolbox installed_registry",
            "tools": "Tools",
            "coilclaw.bridge": "Caller",
            "coilclaw.policy": "AlreadyDecided Answer DamagedApproval NoSuchApproval NoSuchWindow Question Window",
            "coilclaw.runs": "ApprovedPlan Comparison NoSuchRun NotCancellable NotResumable "
            "Rehearsal RunPage RunRecord",
            "coilclaw.sandbox": "Deadline Limits",
        },
    )

__all__ = [
    "RESERVED_NAMES",
    "AlreadyDecided",
    "Answer",
    "AppClosed",
    "ApprovalRequest",
    "Approvals",
    "ApprovedPlan",
    "Background",
    "BadArgument",
    "CallReport",
    "Caller",
    "CoilClaw",
    "Comparison",
    "Composition",
    "DamagedApproval",
    "Deadline",
    "Engines",
    "Estop",
    "HeldFile",
    "Limits",
    "NoSuchApproval",
    "NoSuchRun",
    "NoSuchWindow",
    "NotCancellable",
    "NotResumable",
    "Notices",
    "Quarantine",
    "Question",
    "Receipts",
    "Rehearsal",
    "Report",
    "Row",
    "RunHandle",
    "RunPage",
    "RunRecord",
    "Runs",
    "ServerNote",
    "StopChange",
    "Stores",
    "TooManyRuns",
    "Toolbox",
    "Tools",
    "Trial",
    "UnknownCall",
    "Window",
    "Windows",
    "WouldBlock",
    "argument_rows",
    "call_rows",
    "code_rows",
    "difference_rows",
    "file_lines",
    "installed_registry",
    "make_policy",
    "noted_server",
    "odd_encoding",
    "open_servers",
    "open_stores",
    "restart_log",
    "running_servers",
    "runs_rows",
    "try_example",
]
