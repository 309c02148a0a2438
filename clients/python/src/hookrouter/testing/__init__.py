"""A test kit: a real router, and scripted components.

With this package installed, pytest has the fixture hook_router.
"""

from .fakes import EventRecorder, FakeContext, FakeDisplay, ScriptedApprover, ScriptedOrchestrator
from .router import Router, find_binary

__all__ = [
    "EventRecorder",
    "FakeContext",
    "FakeDisplay",
    "Router",
    "ScriptedApprover",
    "ScriptedOrchestrator",
    "find_binary",
]
