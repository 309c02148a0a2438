#!/bin/sh
# PreCompact: exit code 2 where the compaction is automatic.
if grep -q '"trigger":"auto"'; then
	echo "Compact by hand: /compact" >&2
	exit 2
fi
