// Package clitest runs hookctl inside a test, on the bus that its caller has, or on none. Only
// tests import it.
package clitest
