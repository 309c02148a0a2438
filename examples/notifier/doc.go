// Package notifier is an example hook that gets the user's attention: a desktop
// notification when the agent waits, needs an approval, failed, or is done.
//
// It uses notify-send (Linux) or osascript (macOS). Where there is neither, or it
// fails, the message goes to the user through the agent instead, with a bell.
//
// It must run on the user's desktop, so limit it to the user's sessions
// (session_id) where several share a bus. The router's own notifications, that an
// approval is required among them, reach it too; those it can only show, since
// nobody takes an answer to them.
package notifier
