#!/usr/bin/env python3
"""PreToolUse: an error of its own, which Claude Code does not take for a block."""
import json
import sys

json.load(sys.stdin)["no_such_member"]
