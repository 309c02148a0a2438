"""What README.md shows runs as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from hookrouter import Agent, connect

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")


def program(name):
    return re.search(rf"^```python {name}\n(.*?)^```$", README, re.M | re.S)[1]


@pytest.fixture
def hook(hook_router):
    process = subprocess.Popen([sys.executable, "-c", program("hook")], stderr=subprocess.PIPE, text=True)
    yield process
    process.kill()
    process.wait()


async def test_the_agent_is_denied_by_the_hook(hook, hook_router):
    line = f"hookrouter: serving no-force-push (tool:pre) at {hook_router.url}; Ctrl-C stops\n"
    async with connect() as client:
        while not await Agent(client).list_handlers():
            assert hook.poll() is None
        out = subprocess.run([sys.executable, "-c", program("agent")], capture_output=True, text=True, timeout=30)
        assert out.stdout == "denied: A force push rewrites shared history\n", out.stderr
        hook.terminate()
        assert hook.communicate(timeout=20)[1] == line
        assert hook.returncode == 0
        out = subprocess.run([sys.executable, "-c", program("agent")], capture_output=True, text=True, timeout=30)
        assert "no_responder" in out.stdout


def test_hook_and_agent_have_ten_lines():
    for name in ("hook", "agent"):
        assert len([line for line in program(name).splitlines() if line.strip()]) <= 10
