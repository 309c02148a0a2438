#!/usr/bin/env python3
"""PreToolUse on Edit and Write: exit code 2, in Python."""
import json
import sys

PROTECTED = (".env", ".git/", "package-lock.json")

call = json.load(sys.stdin)
path = call.get("tool_input", {}).get("file_path", "")
for part in PROTECTED:
    if part in path:
        print(f"{path} is protected ({part})", file=sys.stderr)
        sys.exit(2)
