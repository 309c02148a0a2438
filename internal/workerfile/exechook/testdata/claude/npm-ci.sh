#!/usr/bin/env bash
# PreToolUse: rewrites the input with jq.
jq 'if .tool_input.command == "npm install" then
      {hookSpecificOutput: {hookEventName: "PreToolUse", permissionDecision: "allow",
        permissionDecisionReason: "the lock file is kept to",
        updatedInput: (.tool_input | .command = "npm ci")}}
    else empty end'
