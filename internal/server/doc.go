// Package server is one hook-router process: an embedded NATS server or a connection to others, the
// router on it, and the console, the health pages and the API for agents over HTTP. The program,
// the demo and the tests all run this.
//
// [Server.Run] blocks and stops in order: /readyz fails, the router answers the requests that it
// took, the HTTP servers end, the connections are flushed and closed, and the NATS server stops.
package server
