"""What the guide shows runs as it stands, where the SDK is LangChain."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hookrouter import Agent, connect

from .lab import Model

GUIDE = (Path(__file__).parents[2] / "docs" / "langgraph.md").read_text("utf-8")
pytestmark = pytest.mark.skipif(os.environ["SDK"] != "langchain", reason="the guide is about LangChain")


def program(name: str) -> list[str]:
    return [sys.executable, "-c", re.search(rf"^```python {name}\n(.*?)^```$", GUIDE, re.M | re.S)[1]]


async def test_the_guarded_agent(hook_router, tmp_path):
    model = Model()
    guard = subprocess.Popen(program("guard"))
    env = {**os.environ, "OPENAI_BASE_URL": model.url + "/v1", "OPENAI_API_KEY": "dummy"}
    try:
        async with connect() as client:
            while not await Agent(client).list_handlers():
                await asyncio.sleep(0.02)
        for command, ran in (("touch marker # git push --force", False), ("touch marker", True)):
            model.command(command)
            out = subprocess.run(program("agent"), env=env, cwd=tmp_path, capture_output=True, text=True, timeout=60)
            assert "finished" in out.stdout, out.stderr
            assert (tmp_path / "marker").exists() == ran
            assert ran == ("rewrites shared history" not in str(model.requests()))
    finally:
        guard.kill()
        guard.wait()
        model.close()
    hook_router.kill()
    out = subprocess.run(program("agent"), env=env, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert "The prompt was denied, since nobody could decide" in out.stdout, out.stderr
