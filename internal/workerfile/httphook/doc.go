// Package httphook is the hook kind http: an endpoint that gets the event as a
// CloudEvent and answers a HookResult.
//
// # Usage
//
// [New] checks a [Config] and returns the hook. Each event is one POST of a CloudEvent
// in structured mode (application/cloudevents+json), so that a signature covers the
// name of the event and the session too. Where there is a secret, the request is
// signed as package signature says; webhook-id is the id of the call, the same at
// each try. Hook-Timeout-Ms is the time that is left, and traceparent is passed on.
//
// # Answer
//
// 200 with a HookResult as JSON, or without a body, and 204 are answers. Any other
// status, and a body that is no HookResult, is too long or late, is an error: the hook
// could not decide, and its on_failure does. Redirects are not followed.
//
// # Retries
//
// A request is tried again, at most twice and while there is time, only where the
// endpoint has not worked on it: no connection was made, or it said 429 or 503 with
// Retry-After. An endpoint that is idempotent is also asked again after the connection
// broke, and after 502, 503 and 504.
//
// # Secrets
//
// A worker file holds none: the values of headers and the secret come from the
// environment or a file. Errors name the endpoint by its host alone. Without TLS only
// the own machine is spoken to, unless the file says insecure.
//
// # Concurrency
//
// The handler may be called by any number of goroutines. At most Config.Concurrency
// requests are under way; a call beyond that waits for its turn until its context is
// over. [kind.Hook.Close] ends the connections.
package httphook
