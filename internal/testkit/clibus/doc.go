// Package clibus runs hookctl in a test against a NATS server with a router, or with an audit log
// that the test writes. Only tests import it. It links a NATS server and a router; tests of
// commands that need neither use only clitest.
package clibus
