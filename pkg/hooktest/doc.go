// Package hooktest helps hook authors test: a whole bus in the test's process, a recorder of
// what observers see, scripted hooks, and a check of the contract between a hook and its
// router.
//
// # Usage
//
// [Start] a [Bus], give it to the code under test (with [Bus.Client], [Bus.Worker],
// [Bus.Agent], or [Bus.URL] if it needs an address), emit events, and check the answers.
// [Script] makes hooks that answer what the test wants. A [Recorder] waits for events without
// sleeping. [ValidateHandler] calls a handler with everything that it may receive.
//
// For whole turns there are [Bus.Approve], which answers approval requests by a script,
// [FakeDisplay], [FakeContext], and [ScriptedOrchestrator], an agent whose model is a
// script.
//
// The bus is a real NATS server and a real router. It is ready in milliseconds, keeps its
// files in a temporary directory, listens only if asked to, and ends with the test.
//
// # Dependencies
//
// This package links the NATS server and the router, so use it in tests only. `hookctl
// validate` makes the same checks of a live hook, in any language.
//
// # Concurrency
//
// Everything here is safe for concurrent use.
package hooktest
