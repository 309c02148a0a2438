#!/bin/bash
# PreToolUse: exit code 2, with jq.
set -euo pipefail
input=$(cat)
command=$(jq -r '.tool_input.command // empty' <<<"$input")
if [[ $command =~ rm[[:space:]]+-[a-z]*r[a-z]*f ]]; then
	echo "Refused: '$command' removes whole trees. Move things to /tmp instead." >&2
	exit 2
fi
exit 0
