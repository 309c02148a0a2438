#!/bin/sh
# SessionStart: plain output is context.
cat > /dev/null
echo "## Project"
cat "$CLAUDE_PROJECT_DIR/NOTES.md"
