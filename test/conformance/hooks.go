package conformance

import "context"

// Hooks is a process that runs scripted hooks with a client library: a bridge. It reads
// commands, one JSON object a line, and answers each with a line:
//
//	{"n":1,"op":"register","prefix":"lane0","registration":{"id":…,"events":[…]},"behavior":{…}}
//	{"n":2,"op":"quiet","prefix":"lane0","on":true}
//	{"n":3,"op":"unregister","prefix":"lane0","id":"…"}
//
//	{"n":1}
//	{"n":2,"error":"what went wrong"}
//
// Answers may come in any order. The library registers the hook or the contributor, calls
// the bridge's handler, and checks and sends what that returns. After register the router
// calls the hook, after unregister it is off the bus, durable or not. While it is quiet,
// hooks of that prefix answer null and count nothing; calls as observe never count. The
// bridge finds the NATS server in NATS_URL and ends when its input does.
type Hooks struct{ *process }

// StartHooks starts a bridge that connects to the server at url. Close it.
func StartHooks(ctx context.Context, url string, command ...string) (*Hooks, error) {
	p, err := start(ctx, url, command...)
	return &Hooks{p}, err
}

// do sends a command and waits until it is done.
func (h *Hooks) do(ctx context.Context, op, prefix string, members map[string]any) error {
	_, err := h.ask(ctx, op, prefix, members)
	return err
}
