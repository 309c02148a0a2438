// Package clibus gives hookctl a bus inside a test: one with a router, or one with an audit log
// that the test writes. Only tests import it. It links a NATS server and a router: tests of
// commands that need neither use only clitest.
package clibus
