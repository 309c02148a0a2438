#!/usr/bin/env python3
"""PreToolUse: continue false stops the agent altogether."""
import json
import os
import sys

json.load(sys.stdin)
if os.path.exists(os.path.join(os.environ["CLAUDE_PROJECT_DIR"], "stop")):
    print(json.dumps({"continue": False, "stopReason": "The budget is spent"}))
