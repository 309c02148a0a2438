from __future__ import annotations

import asyncio
import inspect
import os

import pytest

if not os.environ.get("SDK"):  # run.py says which one is installed here
    collect_ignore_glob = ["*"]

RUNNER = asyncio.Runner()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run all in one event loop: SDKs keep connections to the model."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    RUNNER.run(pyfuncitem.obj(**arguments))
    return True
