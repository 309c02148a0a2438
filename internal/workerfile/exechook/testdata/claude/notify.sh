#!/bin/sh
# Notification: tells somebody; what it prints is for nobody.
jq -r '"\(.notification_type): \(.message)"' >> "$CLAUDE_PROJECT_DIR/notified"
echo "notified"
