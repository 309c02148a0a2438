// Package server is one hook-router process: an embedded NATS server or a connection to others,
// the router on it, and the health pages over HTTP. The program, the demo and the tests all run
// this.
//
// [Server.Run] blocks and stops in order: the health page says "not ready", the router answers
// the requests it took, the connection is drained, the server stops.
package server
