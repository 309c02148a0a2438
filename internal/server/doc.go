// Package server is one hook-router process: a NATS server of its own or a
// connection to others, the router on it, and the health pages over HTTP. The
// program, the demo and the tests all run this.
//
// [Server.Run] blocks and ends in order: the health page says "not ready", the
// router answers what it took, the connection is drained, the server stops.
package server
