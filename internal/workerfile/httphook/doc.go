// Package httphook is the hook kind http: an endpoint that receives the event as a CloudEvent and
// answers with a HookResult.
//
// # Usage
//
// [New] checks a [Config] and returns the hook. Each event is one POST of a CloudEvent in
// structured mode (application/cloudevents+json), so that a signature also covers the name of the
// event and the session. If there is a secret, the request is signed as described in package
// signature. webhook-id is the id of the call and the same for each attempt. Hook-Timeout-Ms is the
// remaining time, and traceparent is passed on.
//
// # Answer
//
// 200 with a HookResult as JSON or without a body, and 204, are answers. Any other status, and a
// body that is not a HookResult, too long or too late, are errors: the hook could not decide, and
// its on_failure applies. Redirects are not followed.
//
// # Retries
//
// A request is retried at most twice, while time remains, and only if the endpoint has not
// processed it: no connection was made, or it returned 429 or 503 with Retry-After. Requests to an
// idempotent endpoint are also retried after the connection broke, and after 502, 503 and 504.
//
// # Secrets
//
// A worker file contains no secrets: the values of headers and the secret come from the environment
// or a file. Errors identify the endpoint only by its host. Without TLS, only endpoints on the same
// machine are called, unless the file says insecure.
//
// # Concurrency
//
// The handler is safe for concurrent use. At most Config.Concurrency requests are in flight;
// further calls wait for a slot until their context ends. [kind.Hook.Close] closes the connections.
package httphook
