from __future__ import annotations

from google.adk.agents import LlmAgent
from google.adk.models import Gemini
from google.adk.runners import InMemoryRunner
from google.genai import types

from hookrouter.adapters.google_adk import HookPlugin

from .lab import IMAGE, PROMPT, Lab

CANNOT_CHANGE_PROMPTS = False


async def turn(lab: Lab, part: types.Part | None = None) -> str:
    def bash(command: str, description: str = "") -> str:
        """Run a command."""
        return lab.bash(command)

    lab.setenv(GOOGLE_API_KEY="dummy", GOOGLE_GENAI_USE_VERTEXAI="0", GOOGLE_GEMINI_BASE_URL=lab.model.url)
    agent = LlmAgent(name="a", model=Gemini(model="gemini-2.5-flash"), tools=[bash])
    runner = InMemoryRunner(agent=agent, app_name="app", plugins=[HookPlugin(**lab.options)])
    await runner.session_service.create_session(app_name="app", user_id="u", session_id=lab.session)
    said = ""
    message = types.Content(role="user", parts=[part or types.Part(text=PROMPT)])
    async for event in runner.run_async(user_id="u", session_id=lab.session, new_message=message):
        if event.is_final_response() and event.content:
            said = event.content.parts[0].text
    return said


async def turn_with_file(lab: Lab) -> str:
    return await turn(lab, types.Part.from_bytes(data=IMAGE, mime_type="image/gif"))
