from __future__ import annotations

import os

from claude_agent_sdk import ClaudeAgentOptions, query

from hookrouter.adapters.claude_agent_sdk import RouterHooks

from .lab import PROMPT, Lab

CANNOT_CHANGE_PROMPTS = True  # nor does Claude Code
FAILURE = "Exit code 3"


async def turn(lab: Lab, prompt: str = PROMPT) -> str:
    options = ClaudeAgentOptions(
        hooks=RouterHooks(session=lab.session, **lab.options).matchers(),
        allowed_tools=["Bash"],
        cli_path=os.environ["CLAUDE"],
        cwd=lab.directory,
        env={
            "ANTHROPIC_BASE_URL": lab.model.url,
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
    )
    said = []
    async for message in query(prompt=prompt, options=options):
        if type(message).__name__ == "ResultMessage":
            said.append(str(message.result))
        elif type(message).__name__ == "SystemMessage":
            said.append(str(message.data))
    return "\n".join(said)
