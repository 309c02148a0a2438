"""Client for hookrouter: hooks and agents.

A hook handles events:

    hooks = HookRegistry()

    @hooks.on("tool:pre", id="no-force-push", on_failure="deny")
    async def guard(event, data): ...

An agent sends events and obeys the verdicts:

    async with connect() as client:
        verdict = await Agent(client, session="s1").execute("tool:pre", {"tool_name": "Bash"})
        if verdict.permitted: ...

Every exception of this package means that nothing was permitted.
"""

from .agent import Agent, Collection
from .approvals import Approver
from .client import Client, connect
from .display import TerminalDisplay
from .errors import (
    Code,
    ConnectionLost,
    DeadlineExceeded,
    Denied,
    Disconnected,
    HookRouterError,
    Impostor,
    InvalidReply,
    NoRouter,
    NotPermitted,
    OtherData,
    PendingError,
    RouterError,
    Unreachable,
    WrongLoop,
    WrongProcess,
)
from .hooks import HookRegistry
from .interfaces import ApprovalSystem, ContextManager, DisplaySystem, PassOn
from .models import ContextInjection, HookResult
from .registration import ApprovalNeeds, ApproverGroup, Call, Registration, current_call
from .run import Run
from .session import Session
from .tools import ToolCall, run_tool
from .verdict import Approval, Display, Execution, Message, Warn
from .worker import Worker

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "Approval",
    "ApprovalNeeds",
    "ApprovalSystem",
    "Approver",
    "ApproverGroup",
    "Call",
    "Client",
    "Code",
    "Collection",
    "ConnectionLost",
    "ContextInjection",
    "ContextManager",
    "DeadlineExceeded",
    "Denied",
    "Disconnected",
    "Display",
    "DisplaySystem",
    "Execution",
    "HookRegistry",
    "HookResult",
    "HookRouterError",
    "Impostor",
    "InvalidReply",
    "Message",
    "NoRouter",
    "NotPermitted",
    "OtherData",
    "PassOn",
    "PendingError",
    "Registration",
    "RouterError",
    "Run",
    "Session",
    "TerminalDisplay",
    "ToolCall",
    "Unreachable",
    "Warn",
    "Worker",
    "WrongLoop",
    "WrongProcess",
    "connect",
    "current_call",
    "run_tool",
]
