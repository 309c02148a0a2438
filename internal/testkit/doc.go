// Package testkit has helpers that the tests of all packages share.
//
// # Servers and routers
//
// Package natstest starts NATS servers in the test process, routertest starts a router on one of
// them, and clitest runs hookctl. They are separate packages so that a test links only what it
// needs.
//
// # Waiting
//
// Tests do not sleep. If there is a signal, a test waits for it: [Receive] returns the next value
// of a channel, and fails the test if none arrives. Otherwise a test polls: [Eventually] and
// [Until] return as soon as a condition is true, and fail the test if it does not become true in
// time. Tests about time run in a bubble of testing/synctest.
//
// # Volume
//
// The default run exercises everything once. [Volume] returns the number of repetitions of a test,
// and [From] skips a test in tiers that are too small. The variable HOOKROUTER_TEST_TIER selects
// the tier: smoke (the default), ci or full. HOOKROUTER_FULL=1 also selects full.
//
// # Programs
//
// [Program] builds a program of cmd, once for all packages of a run, and [Start] starts a process
// that ends with the test. HOOKROUTER_TEST_LOG=1 shows the logs of processes and routers.
package testkit
