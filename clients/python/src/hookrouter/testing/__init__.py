"""A test kit: a real router, and scripted parts around it.

pytest has the fixture hook_router where this package is installed.
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
