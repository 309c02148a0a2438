#!/bin/bash
# PostToolUse: additionalContext, without jq.
input=$(cat)
case $input in
*'"stdout":"FAIL'*)
	cat <<'JSON'
{"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "Tests are run with `make test` here."}}
JSON
	;;
esac
