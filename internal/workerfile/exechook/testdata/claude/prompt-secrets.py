#!/usr/bin/env python3
"""UserPromptSubmit: decision block."""
import json
import re
import sys

data = json.load(sys.stdin)
if re.search(r"(?i)\b(password|secret|api[_-]?key)\s*[:=]", data["prompt"]):
    print(json.dumps({"decision": "block", "reason": "The prompt holds a secret. Take it out and send it again."}))
    sys.exit(0)
print(f"Session {data['session_id']} in {data['cwd']}")
