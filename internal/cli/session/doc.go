// Package session implements the commands for sessions: show the state that routers keep, revoke
// grants, begin a turn, and end a session.
package session
