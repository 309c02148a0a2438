// Package webhook tells other programs over HTTP that a person is being asked,
// and what became of it: for bridges to chat rooms and pagers.
//
// # Usage
//
// [New] checks the receivers' URLs and the secret, [Sender.Run] owns the work, and
// [Sender.Notify] takes the news. A receiver gets the approval request with the digest of
// the event's data, never the data, and answers over the router's own API: a
// webhook decides nothing.
//
// # Signature
//
// Requests follow Standard Webhooks 1.0.0: the headers webhook-id,
// webhook-timestamp and webhook-signature, "v1," and the HMAC-SHA256 of
// "id.timestamp.body" in base64. The id is a digest of the content: the same message has
// the same id at every try and from every router, so receivers can drop repetitions.
//
// # Backpressure
//
// Nothing here waits for a receiver but its own worker. Each receiver has a
// bounded queue; what does not fit is dropped, counted and logged.
//
// # Failure
//
// A network error, 429 and 5xx are tried again, later and later, within
// [Options.Window]; Retry-After is kept to. Every other answer that is not 2xx is
// final, redirects included. Logs name a receiver by its host alone: the rest of
// a URL may be a secret.
//
// # Ordering
//
// Each receiver gets one message after the other, in the order of Notify.
package webhook
