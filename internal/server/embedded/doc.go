// Package embedded runs a nats-server with JetStream inside this process: the default of
// hook-router, and the real server that tests use instead of a mock.
//
// Every write is synced to disk before it is acknowledged, so that a registered guard is still
// registered after a power cut. The server listens on loopback or not at all;
// [Server.InProcessConn] connects without a socket.
package embedded
