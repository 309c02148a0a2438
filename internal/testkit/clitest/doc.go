// Package clitest runs hookctl inside a test: against a router, or against an audit log that
// the test writes. Only tests import it.
package clitest
