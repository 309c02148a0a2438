"""A pytest plugin: loaded automatically if the package is installed, or by `pytest_plugins =
["hookrouter.testing.plugin"]`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .router import Router


@pytest.fixture
def hook_router(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Router]:
    """Start a real router for one test. connect() and HookRegistry() use it by default."""
    router = Router(tmp_path / "router").start()
    for name, value in router.env().items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NATS_CREDS", raising=False)
    yield router
    router.kill()
