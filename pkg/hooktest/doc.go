// Package hooktest is for the tests of hook authors: a whole bus in the test's
// process, a recorder of what observers see, scripted hooks, and a check of the
// contract between a hook and its router.
//
// # Usage
//
// [Start] a [Bus], give it to the code under test (over [Bus.Worker], [Bus.Agent],
// or [Bus.URL] for what wants an address), emit events, and look at the answers.
// [Script] makes hooks that answer what the test wants; a [Recorder] waits for
// events without sleeping; [ValidateHandler] asks a handler everything that the
// wire may bring.
//
// The bus is a real NATS server and a real router, not an imitation of them: it
// is ready in milliseconds, keeps its files in a temporary directory, listens
// nowhere unless it is asked to, and ends with the test.
//
// # Dependencies
//
// This package stands on internal packages of this module and links the NATS
// server; it is for tests. Package contract next to it checks a live hook and
// links neither the server nor the router.
//
// # Concurrency
//
// Everything here is safe for concurrent use.
package hooktest
