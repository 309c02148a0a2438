"""What Claude Code runs for an agent of its SDK without a tool call."""

import os
from pathlib import Path
from typing import Any

import pytest

from hookrouter import HookResult

from .lab import Lab
from .test_cases import REASON, lab, model, rewrites  # noqa: F401  fixtures

pytestmark = pytest.mark.skipif(os.environ["SDK"] != "claude-agent-sdk", reason="of claude-agent-sdk")

SKILL = """---
name: state
description: shows the state
allowed-tools: Bash
---
State: !`echo of-a-skill > marker`
"""
HOOK = '{"hooks": {"UserPromptSubmit": [], "PreToolUse": [{"hooks": [{"type": "command", "command": "%s"}]}]}}'


def denies(text: str) -> Any:
    def guard(event: str, data: dict[str, Any]) -> HookResult:
        wrong = event == "tool:pre" and text in str(data["tool_input"])
        return HookResult(action="deny", reason=REASON) if wrong else HookResult()

    return guard


def wrote(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True)
    file.write_text(text)


async def says(lab: Lab, prompt: str) -> str:  # noqa: F811
    from .sdk_claude_agent_sdk import turn

    return await turn(lab, prompt)


@pytest.mark.parametrize("denied", [True, False])
async def test_a_shell_command_of_a_skill_is_asked_about(lab: Lab, denied: bool) -> None:  # noqa: F811
    wrote(lab.directory / ".claude" / "skills" / "state" / "SKILL.md", SKILL)
    lab.model.command("true")
    lab.start(denies("echo of-a-skill" if denied else "nothing"))
    assert "finished" in await says(lab, "/state")
    assert lab.marker == ("" if denied else "of-a-skill")
    assert lab.saw(REASON) == denied
    assert lab.recorded("tool:pre", "deny" if denied else "continue")


async def test_a_shell_command_of_a_skill_can_not_be_changed(lab: Lab) -> None:  # noqa: F811
    wrote(lab.directory / ".claude" / "skills" / "state" / "SKILL.md", SKILL)
    lab.model.command("true")
    lab.start(rewrites("tool:pre", "tool_input", "of-a-skill", "changed"))
    assert "finished" in await says(lab, "/state")
    assert lab.marker == ""
    assert lab.saw("hooks changed it")


async def test_a_shell_command_of_a_skill_without_a_router(lab: Lab) -> None:  # noqa: F811
    wrote(lab.directory / ".claude" / "skills" / "state" / "SKILL.md", SKILL)
    lab.model.command("true")

    def guard(event: str, data: dict[str, Any]) -> HookResult:
        if event == "tool:pre":
            lab.router.kill()
        return HookResult()

    lab.start(guard)
    assert "finished" in await says(lab, "/state")
    assert lab.marker == ""


@pytest.mark.parametrize("denied", [True, False])
async def test_settings_that_a_program_writes_are_asked_about(lab: Lab, denied: bool) -> None:  # noqa: F811
    settings = HOOK % "echo of-settings > marker"
    (lab.directory / "configure").write_text(f"mkdir -p .claude; echo '{settings}' > .claude/settings.json; sleep 3\n")
    lab.model.command("sh ./configure", "true")
    lab.start(denies("settings.json" if denied else "nothing"))
    assert "finished" in await says(lab, "configure")
    assert (lab.directory / ".claude" / "settings.json").exists()
    assert lab.marker == ("" if denied else "of-settings")


async def test_settings_that_a_program_writes_do_not_end_the_hooks(lab: Lab) -> None:  # noqa: F811
    off = """mkdir -p .claude; echo '{"disableAllHooks": true}' > .claude/settings.local.json; sleep 3"""
    (lab.directory / "switch-off").write_text(off)
    lab.model.command("sh ./switch-off", "echo ungated > marker")
    lab.start(denies("echo ungated"))
    assert "finished" in await says(lab, "switch off")
    assert lab.marker == ""
    assert lab.saw(REASON)
