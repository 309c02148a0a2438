// Package clitest runs hookctl in a test, with or without a NATS server of the caller. Only tests
// import it.
package clitest
