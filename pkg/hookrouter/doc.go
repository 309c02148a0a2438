// Package hookrouter connects a program to a hook router over NATS.
//
// # Usage
//
// [Connect] once, and create everything else from the [Client], which shares its connection:
//
//	client, err := hookrouter.Connect(ctx, hookrouter.Options{URL: url})
//	...
//	defer client.Close()
//	w, err := worker.New(client, worker.Options{})       // answers events with hooks
//	a, err := agent.New(client, agent.Options{})         // sends events, obeys the answers
//	p := approver.New(client)                            // answers approval requests
//
// # Failure
//
// The connection reconnects forever. While it is down, requests fail at once with
// [ErrDisconnected] and nothing is buffered.
//
// A request that no router can serve at the moment has had no effect, and is retried for up to
// Options.Patience. An error reply of a router or a hook is an [*Error] with a [Code] of the wire
// protocol. If the connection is lost while waiting for a reply, the error is [ErrConnectionLost],
// and the request may have taken effect.
//
// # Concurrency
//
// A Client is safe for concurrent use.
package hookrouter
