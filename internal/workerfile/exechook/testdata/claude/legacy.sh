#!/bin/bash
# PreToolUse in the old form: decision approve or block.
tool=$(sed -n 's/.*"tool_name":"\([^"]*\)".*/\1/p')
if [ "$tool" = WebFetch ]; then
	printf '{"decision":"block","reason":"%s is off"}' "$tool"
else
	printf '{"decision":"approve"}'
fi
