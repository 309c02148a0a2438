// Package hooktest helps hook authors test their hooks. It provides a whole bus in the test's
// process, a recorder of the events that observers see, scripted hooks, and a check of the contract
// between a hook and its router.
//
// # Usage
//
// [Start] a [Bus], give it to the code under test (with [Bus.Client], [Bus.Worker], [Bus.Agent], or
// [Bus.URL] if it needs an address), emit events, and check the answers. [Script] makes hooks with
// predefined answers. A [Recorder] waits for events without sleeping. [ValidateHandler] calls a
// handler with everything that it may receive.
//
// To test whole turns, use [Bus.Approve], which answers approval requests from a script,
// [FakeDisplay], [FakeContext], and [ScriptedOrchestrator], an agent with a scripted model.
//
// The bus is a real NATS server and a real router. It starts in milliseconds, keeps its files in a
// temporary directory, listens only if asked to, and is closed with the test.
//
// # Dependencies
//
// This package links the NATS server and the router, so import it in tests only. `hookctl validate`
// runs the same checks on a live hook in any language.
//
// # Concurrency
//
// Everything in this package is safe for concurrent use, except for [ScriptedOrchestrator].
package hooktest
