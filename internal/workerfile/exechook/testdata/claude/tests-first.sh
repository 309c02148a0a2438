#!/usr/bin/env bash
# Stop: goes on until the tests ran, once.
input=$(cat)
if grep -q '"stop_hook_active": *true' <<<"$input"; then
	exit 0
fi
echo '{"decision": "block", "reason": "Run the tests first"}'
