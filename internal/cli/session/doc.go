// Package session has the commands about sessions: show what the routers remember of one,
// revoke its grants, begin a turn, and end it.
package session
