// Package testkit is what the tests of every package share.
//
// # Servers and routers
//
// Package natstest starts NATS servers in the process of the test, routertest a router on
// one of them, and clitest runs hookctl. They are packages of their own so that a test
// links only what it needs.
//
// # Waiting
//
// No test sleeps. Where there is a signal, a test waits for it: [Receive] takes the next
// value of a channel, and fails the test where none comes. Where there is none, it polls:
// [Eventually] and [Until] return as soon as a condition holds, and fail the test where
// it does not hold in time. Where time itself is what a test is about, it runs in a
// bubble of testing/synctest.
//
// # Volume
//
// The default run exercises everything once. [Volume] says how often a test repeats what
// it does, and [From] skips a test where a tier is too small for it. The variable
// HOOKROUTER_TEST_TIER selects the tier: smoke (the default), ci or full.
// HOOKROUTER_FULL=1 is short for full.
//
// # Programs
//
// [Program] builds a program of cmd, once for all packages and runs, and [Start] starts
// a process that ends with the test. HOOKROUTER_TEST_LOG=1 shows what processes and
// routers log.
package testkit
