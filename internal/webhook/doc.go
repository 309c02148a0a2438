// Package webhook sends approval requests and their decisions to other programs over
// HTTP, such as bridges to chat rooms and pagers.
//
// # Usage
//
// [New] checks the receivers' URLs and the secret, [Sender.Run] sends, and
// [Sender.Notify] queues a message. A receiver gets the approval request with the digest
// of the event's data, never the data. It answers over the router's own API: a webhook
// decides nothing.
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
// Only a receiver's own worker waits for it. Each receiver has a bounded queue;
// messages beyond it are dropped, counted and logged.
//
// # Failure
//
// A network error, 429 and 5xx are retried with growing pauses within
// [Options.Window]; Retry-After is honored. Every other answer that is not 2xx is
// final, redirects included. Logs name a receiver by its host alone: the rest of
// a URL may be a secret.
//
// # Ordering
//
// Each receiver gets one message after the other, in the order of Notify.
package webhook
