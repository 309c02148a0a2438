"""`hookrouter host`: existing hook modules, unchanged, as workers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hookrouter import Agent, Approver, Client, HookRegistry, HookResult, connect
from hookrouter.testing import ScriptedApprover
from hookrouter.testing.router import Router


class Running:
    """A host in a process of its own, and a client."""

    def __init__(self, client: Client, process: asyncio.subprocess.Process, lines: list[str], errors: Path) -> None:
        self.client, self.process, self.lines, self._errors = client, process, lines, errors

    @property
    def errors(self) -> str:
        return self._errors.read_text()

    def agent(self, session: str = "s1") -> Agent:
        return Agent(self.client, session=session)

    async def kill(self) -> None:
        self.process.kill()
        await self.process.wait()


@contextlib.asynccontextmanager
async def host(
    home: Path, module: str, config: dict[str, Any] | None = None, *arguments: str, timeout_ms: int = 25000, **more: Any
) -> AsyncIterator[Running]:
    """Run the command until the end of the block."""
    plan = home / "plan.json"
    entry = {"module": module, "config": config or {}, "hookrouter": {"timeout_ms": timeout_ms}}
    plan.write_text(json.dumps({"hooks": [entry], **more}))
    errors = home / "host.log"
    command = [sys.executable, "-m", "hookrouter.cli", "host", f"--plan={plan}", *arguments]
    env = {**os.environ, "TMPDIR": str(home)}
    with errors.open("wb") as log:
        process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, stderr=log, cwd=home, env=env)
    assert process.stdout is not None
    lines: list[str] = []
    try:
        while "hookrouter host is ready" not in lines:
            line = await process.stdout.readline()
            assert line, errors.read_text()
            lines.append(line.decode().strip())
        async with connect() as client:
            yield Running(client, process, lines, errors)
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


def tool(name: str, result: Any = None, **tool_input: Any) -> dict[str, Any]:
    return {"tool_name": name, "tool_input": tool_input, **({} if result is None else {"result": result})}


async def test_hooks_approval(hook_router: Router, tmp_path: Path) -> None:
    """It approves and denies by its rules, and what it would ask its provider is asked by the router."""
    rules = [{"pattern": "ls*", "action": "auto_approve"}, {"pattern": "dd*", "action": "auto_deny"}]
    system = ScriptedApprover(["Allow once", "Deny"])
    async with host(tmp_path, "hooks-approval", {"rules": rules}) as h, connect() as client:
        approving = asyncio.create_task(Approver(client, system).run())
        agent = h.agent()
        assert await agent.execute("tool:pre", tool("bash", command="ls -l"))
        assert "by rule" in (await agent.execute("tool:pre", tool("bash", command="dd of=x"))).reason
        assert system.requests == []
        assert await agent.execute("tool:pre", tool("bash", command="make"))
        assert not await agent.execute("tool:pre", tool("bash", command="rm x"))
        assert [r["prompt"] for r in system.requests] == [f"Execute: {c} (risk: high)" for c in ("make", "rm x")]
        approving.cancel()


async def test_hooks_redaction(hook_router: Router, tmp_path: Path) -> None:
    async with host(tmp_path, "hooks-redaction") as h:
        result = await h.agent().emit("prompt:submit", {"prompt": "my key is AKIAABCDEFGHIJKLMNOP"})
        assert result.data is not None
        assert result.data["prompt"] == "my key is [REDACTED:SECRET]"
        assert len([line for line in h.lines if line.startswith("hooks-redaction:")]) == 1  # for all its events


async def test_hooks_status_context(hook_router: Router, tmp_path: Path) -> None:
    async with host(tmp_path, "hooks-status-context", None, f"--working-dir={tmp_path}") as h:
        for session in ("s1", "s2"):
            result = await h.agent(session).emit("provider:request", {"provider": "mock"})
            assert result.action == "inject_context"
            assert result.ephemeral
            assert f"Session ID: {session}" in str(result.context_injection)
            assert f"Working directory: {tmp_path}" in str(result.context_injection)


async def test_hooks_todo_reminder(hook_router: Router, tmp_path: Path) -> None:
    """Each session has modules of its own, as in Amplifier."""
    async with host(tmp_path, "hooks-todo-reminder") as h:
        one, other = h.agent("s1"), h.agent("s2")
        await one.emit("tool:post", {"tool": "TodoWrite", **tool("TodoWrite", {})})
        assert (await one.emit("provider:request", {})).action == "continue"
        result = await other.emit("provider:request", {})
        assert "hasn't been used recently" in str(result.context_injection)
        assert result.append_to_last_tool_result


def shell(home: Path, **hook: Any) -> None:
    directory = home / ".amplifier/hooks/guard"
    directory.mkdir(parents=True)
    groups = [{"matcher": "bash", "hooks": [hook]}]
    (directory / "hooks.json").write_text(json.dumps({"name": "guard", "hooks": {"PreToolUse": groups}}))


async def test_hook_shell(hook_router: Router, tmp_path: Path) -> None:
    """It reads the input in the place where Claude Code's name for it is: input, which loop-basic does not send."""
    shell(tmp_path, type="command", command="grep -q rm && { echo not rm >&2; exit 2; }; exit 0")
    async with host(tmp_path, "hook-shell") as h:
        call = {**tool("bash", command="ls"), "name": "bash", "input": {"command": "ls"}}
        assert await h.agent().execute("tool:pre", call)
        verdict = await h.agent().execute("tool:pre", {**call, "input": {"command": "rm x"}})
        assert (verdict.permitted, verdict.reason) == (False, "not rm")


async def test_hook_shell_is_refused_a_provider(hook_router: Router, tmp_path: Path) -> None:
    """It lets everything pass where it has no provider. The refused call is named, and is a failure."""
    shell(tmp_path, type="prompt", prompt="Is this fine? $ARGUMENTS")
    async with host(tmp_path, "hook-shell", None, "--on-failure=deny") as h:
        assert not await h.agent().execute("tool:pre", tool("bash", command="ls"))
        assert "coordinator.get('providers') is refused" in h.errors


async def test_hook_shell_with_a_provider(hook_router: Router, tmp_path: Path) -> None:
    shell(tmp_path, type="prompt", prompt="Is this fine? $ARGUMENTS")
    answer = {"module": "provider-scripted", "config": {"always": '{"ok": false, "reason": "the model says no"}'}}
    async with host(tmp_path, "hook-shell", None, "--on-failure=deny", providers=[answer]) as h:
        assert (await h.agent().execute("tool:pre", tool("bash", command="ls"))).reason == "the model says no"


async def test_hooks_deprecation(hook_router: Router, tmp_path: Path) -> None:
    """It registers when the session is ready, reads the mount plan, emits an event and contributes."""
    config = {"bundle_name": "old-bundle", "replacement": "new-bundle", "message": "Use new-bundle"}
    async with host(tmp_path, "hooks-deprecation", config) as h:
        verdict = await h.agent().execute("session:start", {})
        assert "old-bundle" in verdict.messages[0].content
        assert "old-bundle" in verdict.display[0].message
        assert list(await h.agent().collect_contributions("observability.events")) == [["deprecation:warning"]]
        again = await h.agent().execute("session:start", {})
        assert again.messages == ()
        assert (await h.agent("s2").execute("session:start", {})).messages


async def test_hooks_process_guard(hook_router: Router, tmp_path: Path) -> None:
    config = {"max_process_count": 1, "warning_threshold": 1, "kill_orphans_before_exec": False}
    async with host(tmp_path, "hooks-process-guard", config) as h:
        assert "limit of 1" in (await h.agent().execute("tool:pre", tool("bash", command="ls"))).reason
        assert await h.agent().execute("tool:pre", tool("read_file", file_path="a"))


async def test_hooks_progress_monitor(hook_router: Router, tmp_path: Path) -> None:
    async with host(tmp_path, "hooks-progress-monitor") as h:
        call = tool("read_file", {}, file_path="/x/a.txt")
        actions = [(await h.agent().emit("tool:post", call)).action for _ in range(3)]
        assert actions == ["continue", "continue", "inject_context"]
        assert (await h.agent("s2").emit("tool:post", call)).action == "continue"


async def test_hooks_session_naming(hook_router: Router, tmp_path: Path) -> None:
    """It names a session whose directory the host can see, with a provider that the host was given."""
    directory = Path(os.environ["HOME"]) / ".amplifier/sessions/s1"
    directory.mkdir(parents=True)
    (directory / "metadata.json").write_text('{"turn_count": 1}')
    (directory / "transcript.jsonl").write_text('{"role": "user", "content": "mend the build"}\n')
    answer = '{"action": "set", "name": "Mending the build", "description": "A build is mended"}'
    provider = {"module": "provider-scripted", "config": {"always": answer}}
    async with host(tmp_path, "hooks-session-naming", None, providers=[provider]) as h:
        await h.agent().emit("prompt:complete", {})
        await h.agent().emit("session:end", {})  # it waits for the name
        assert json.loads((directory / "metadata.json").read_text())["name"] == "Mending the build"


async def test_hooks_session_naming_without_a_provider(hook_router: Router, tmp_path: Path) -> None:
    directory = Path(os.environ["HOME"]) / ".amplifier/sessions/s1"
    directory.mkdir(parents=True)
    (directory / "metadata.json").write_text('{"turn_count": 1}')
    (directory / "transcript.jsonl").write_text('{"role": "user", "content": "mend the build"}\n')
    async with host(tmp_path, "hooks-session-naming") as h:
        await h.agent().emit("prompt:complete", {})
        await h.agent().emit("session:end", {})
        assert "coordinator.get('providers') is refused" in h.errors


async def test_hooks_todo_display(hook_router: Router, tmp_path: Path) -> None:
    """What it prints is shown where the session is."""
    todos = [{"content": "Mend it", "activeForm": "Mending it", "status": "in_progress"}]
    async with host(tmp_path, "hooks-todo-display") as h:
        await h.agent().execute("tool:pre", tool("todo", todos=todos))
        post = tool("todo", {"output": {"status": "updated", "todos": todos}}, todos=todos)
        shown = (await h.agent().execute("tool:post", post)).display
        assert "Mending it" in shown[0].message
        assert "\x1b" not in shown[0].message


async def test_a_host_that_is_gone(hook_router: Router, tmp_path: Path) -> None:
    """As in Amplifier, an event passes its failed hooks, unless the host was told otherwise."""
    async with host(tmp_path, "hooks-todo-display", None, "--on-failure=deny", timeout_ms=1000) as h:
        assert await h.agent().execute("tool:pre", tool("bash", command="ls"))
        await h.kill()
        assert not await h.agent().execute("tool:pre", tool("bash", command="ls"))


async def test_with_identities(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hooks are a worker's, and the events that a module emits are an agent's."""
    router = Router(tmp_path / "router", auth=True).start()
    try:
        for name, value in router.env().items():
            monkeypatch.setenv(name, value)
        async with host(tmp_path, "hooks-deprecation", {"bundle_name": "old-bundle", "message": "Use another"}) as h:
            heard: list[str] = []

            async def hear(event: str, data: dict[str, Any]) -> HookResult:
                heard.append(data["bundle_name"])
                return HookResult()

            async with HookRegistry() as hooks:
                hooks.register("deprecation:warning", hear)
                await hooks.ready()
                assert (await h.agent().execute("session:start", {})).messages
                assert heard == ["old-bundle"]
    finally:
        router.kill()


@pytest.mark.parametrize("session", ["../other", "a/b", ".", "a\\b"])
async def test_a_session_id_is_no_path(hook_router: Router, tmp_path: Path, session: str) -> None:
    """An agent chooses it, and modules make file names of it."""
    async with host(tmp_path, "hooks-progress-monitor") as h:
        assert "is not passed" in (await h.agent(session).execute("tool:post", tool("bash", {}))).reason
        assert "is not passed" in (await h.agent().execute("tool:post", {"session_id": session})).reason


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["no-such-module"], "no such module is installed"),
        ([], "no module"),
        (["--plan=missing.yaml"], "missing.yaml"),
        (["."], "no package amplifier_module_*"),
    ],
)
async def test_what_the_host_can_not_run(tmp_path: Path, hook_router: Router, arguments: list[str], says: str) -> None:
    command = [sys.executable, "-m", "hookrouter.cli", "host", *arguments]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 1
    assert says in done.stderr


async def test_a_module_that_can_not_be_loaded_is_told(tmp_path: Path, hook_router: Router) -> None:
    told: list[Any] = []

    async def watch(event: str, data: dict[str, Any]) -> HookResult:
        told.append(data)
        return HookResult()

    async with HookRegistry() as hooks:
        hooks.register("module:load_failed", watch)
        await hooks.ready()
        command = [sys.executable, "-m", "hookrouter.cli", "host", "no-such-module"]
        done = await asyncio.to_thread(subprocess.run, command, capture_output=True, cwd=tmp_path, check=False)
    assert done.returncode == 1
    assert told, done.stderr
    assert [(d["module_type"], d["module_id"]) for d in told] == [("hook", "no-such-module")]
    assert "no such module is installed" in told[0]["error"]
