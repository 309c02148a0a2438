// Package audit is an example hook that writes one line for each tool call: it
// observes and changes nothing.
//
// The lines name the session, the tool, and how it went. They do not hold what
// the tool was given or returned, which may be secret. This is a log of one's own
// beside the router's audit trail, which records decisions and can be verified.
//
// Its mode is observe: the router tells it after the answer, so that it costs the
// agent no time.
package audit
