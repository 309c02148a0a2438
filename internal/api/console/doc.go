// Package console is the router's web page and HTTP API for people. It lists open approval
// requests and takes answers, and shows live events and the registry. It decides nothing: an
// [approval.Service] does.
//
// # Usage
//
// [New] makes a console, [Console.Handler] serves it, and [Console.Close] ends its WebSockets
// and long polls, which would otherwise keep a server from stopping.
//
// # Access
//
// A request carries a token as "Authorization: Bearer", or the session that the page got for it,
// which the page keeps for one tab. There are no cookies: a browser sends those to every port of a
// host. A page that lost its connection makes the router prove that it has the key that signed the
// session, before it sends the session again: by then another program may listen on the port. Wrong
// tokens are throttled per address; a valid one is not. The Host header must name the console,
// against DNS rebinding. A request that changes something or opens a WebSocket must come from the
// console's own page, or from no page. Every answer forbids third-party scripts and frames.
//
// Whoever may answer sees open and decided requests, live events and the explanation of a
// decision. Searching the audit log, seeing secrets and freezing agents are separate rights.
//
// # Backpressure
//
// Each WebSocket has a bounded queue of events; a slow reader loses the oldest ones and is told
// how many. The list of approvals is never lost: the newest one waits until it can be sent.
// WebSockets and long polls are limited in number.
//
// # Concurrency
//
// A Console is safe for concurrent use. It runs one goroutine from New to Close, and reads live
// events only while a page is open.
package console
