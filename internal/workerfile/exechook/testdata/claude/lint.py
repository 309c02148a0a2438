#!/usr/bin/env python3
"""PostToolUse: tells the model what a linter found."""
import json
import sys

call = json.load(sys.stdin)
text = call["tool_input"].get("content", "")
found = [f"line {n}: trailing space" for n, line in enumerate(text.split("\n"), 1) if line != line.rstrip()]
if found:
    json.dump({"decision": "block", "reason": "Fix these:\n" + "\n".join(found)}, sys.stdout)
