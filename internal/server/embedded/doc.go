// Package embedded runs a nats-server with JetStream in this process. It is the default of
// hook-router, and the server that tests use instead of a mock.
//
// Every write is synced to disk before it is acknowledged, so that a registered guard survives a
// power cut. The server listens on loopback or not at all. [Server.InProcessConn] connects without
// a socket.
package embedded
