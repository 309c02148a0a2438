#!/usr/bin/env python3
"""PostToolUse: replaces the output of the tool."""
import json
import sys

call = json.load(sys.stdin)
response = call["tool_response"]
if "AKIA" in response["stdout"]:
    response["stdout"] = "[redacted]"
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": response},
                      "systemMessage": "A key was taken out of the output"}))
