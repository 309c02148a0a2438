#!/usr/bin/env python3
"""PreToolUse: JSON with permissionDecision deny, ask or allow."""
import json
import sys

call = json.load(sys.stdin)
command = call["tool_input"]["command"]
if "terraform destroy" in command:
    decision, reason = "deny", "Destroying infrastructure is for people"
elif "terraform apply" in command:
    decision, reason = "ask", "This changes production"
else:
    decision, reason = "allow", "Reading only"
print(json.dumps({
    "hookSpecificOutput": {
        "hookEventName": call["hook_event_name"],
        "permissionDecision": decision,
        "permissionDecisionReason": reason,
    },
    "suppressOutput": True,
}))
