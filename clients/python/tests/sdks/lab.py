"""What the cases need around an SDK: a real router, a guard, a person, and the stub model of test/agents."""

from __future__ import annotations

import asyncio
import json
import subprocess
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from concurrent.futures import Future
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from hookrouter import Approver, HookRegistry, HookResult, connect
from hookrouter.testing import Router, find_binary

EVENTS = ["prompt:submit", "tool:pre", "tool:post", "tool:error"]
PROMPT = "make the marker"
IMAGE = b"GIF89a"


class Model:
    """The stub model in a process of its own."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [find_binary("stubmodel")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.url = self._process.stdout.readline().strip()

    def command(self, *commands: str, before: Callable[[], None] | None = None) -> None:
        """Have the agent run commands, and forget earlier requests; before is called before the model asks."""
        command, *after = commands
        query = [("next", one) for one in after] + ([("before", _once(before))] if before is not None else [])
        url = f"{self.url}/command?{urllib.parse.urlencode(query)}"
        urllib.request.urlopen(urllib.request.Request(url, command.encode(), method="PUT")).close()

    def requests(self) -> list[Any]:
        with urllib.request.urlopen(self.url + "/requests") as reply:
            return json.load(reply)

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()


def _once(before: Callable[[], None]) -> str:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            before()
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.handle_request, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


class Lab:
    """One turn of an agent: its router, its guard, its person and its directory."""

    def __init__(self, directory: Path, router: Router, model: Model, session: str, patch: Any) -> None:
        self.directory, self.router, self.model, self.session = directory, router, model, session
        self._patch = patch
        self.pending = threading.Event()
        self.may_answer = threading.Event()
        self.may_answer.set()
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._serving: asyncio.Task[Any]

    @property
    def options(self) -> dict[str, Any]:
        """What every adapter takes."""
        return {"on_pending": lambda _: self.pending.set(), "patience": 2.0 if self.may_answer.is_set() else 20.0}

    def start(self, guard: Callable[[str, dict[str, Any]], HookResult], answer: str = "") -> None:
        """Register the guard and have the person answer, in a loop that no SDK can block."""
        ready: Future[None] = Future()
        asyncio.run_coroutine_threadsafe(self._serve(guard, answer, ready), self._loop)
        ready.result(20)

    async def _serve(self, guard: Any, answer: str, ready: Future[None]) -> None:
        self._serving = asyncio.current_task()
        async with HookRegistry() as hooks, connect(patience=20) as person:

            @hooks.on(EVENTS, id="guard", on_failure="deny", timeout_ms=25_000, replay_safe=True)
            async def decide(event: str, data: dict[str, Any]) -> HookResult:
                return guard(event, data)

            await hooks.ready()
            approver = asyncio.create_task(Approver(person, self, by="test").run()) if answer else None
            self._answer = answer
            ready.set_result(None)
            try:
                await asyncio.Event().wait()
            finally:
                if approver is not None:
                    approver.cancel()

    async def request_approval(self, prompt: str, options: list[str], timeout: float, default: str) -> str:
        """Answer as the person."""
        await asyncio.to_thread(self.may_answer.wait, 30)
        return self._answer

    def close(self) -> None:
        async def stop() -> None:
            self._serving.cancel()
            await asyncio.wait([self._serving], timeout=3)

        asyncio.run_coroutine_threadsafe(stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)

    def setenv(self, **changes: str) -> None:
        """Change the environment for this turn."""
        for name, value in changes.items():
            self._patch.setenv(name, value)

    def bash(self, command: str) -> str:
        """Run a command: what the tool of every SDK does."""
        done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=self.directory)
        if done.returncode:
            raise RuntimeError(f"it ended with {done.returncode}")
        return done.stdout

    @property
    def marker(self) -> str:
        file = self.directory / "marker"
        return file.read_text().strip() if file.exists() else ""

    def saw(self, text: str) -> bool:
        """Report whether a text is in a request to the model."""
        return any(text in json.dumps(request, ensure_ascii=False) for request in self.model.requests())

    def recorded(self, event: str, action: str, kind: str = "chain.result") -> bool:
        """Report whether the audit log has such an answer in the session, within seconds: it is written beside."""
        until = time.monotonic() + 5
        while action not in (found := self.actions(event, kind)) and time.monotonic() < until:
            time.sleep(0.1)
        return action in found

    def actions(self, event: str, kind: str = "chain.result") -> list[str]:
        """Return what the audit log says of an event of the session."""
        command = [find_binary("hookctl"), "audit", "query", "--json", f"--kind={kind}"]
        command += [f"--event={event}", f"--session={self.session}", f"--server={self.router.url}"]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return [json.loads(line)["record"]["action"] for line in out.splitlines()]
