// Package webhook sends approval requests and their decisions to other programs over HTTP, such as
// bridges to chats and pagers.
//
// # Usage
//
// [New] checks the receivers' URLs and the secret, [Sender.Run] delivers messages, and
// [Sender.Notify] queues them. A receiver gets the approval request with the digest of the event's
// data, never the data itself. It answers over the router's API: the response to a webhook decides
// nothing.
//
// # Signature
//
// Requests follow Standard Webhooks 1.0.0: they have the headers webhook-id, webhook-timestamp and
// webhook-signature, which is "v1," and the base64 HMAC-SHA256 of "id.timestamp.body". The id is a
// digest of the content: a message has the same id in every attempt and from every router, so
// receivers can drop duplicates.
//
// # Backpressure
//
// Each receiver has a goroutine and a bounded queue of its own, so that a slow receiver delays
// nothing else. Messages beyond the queue are dropped, counted and logged.
//
// # Failure
//
// Network errors, 429 and 5xx are retried with growing delays within [Options.Window], and
// Retry-After is honored. All other responses that are not 2xx are final, including redirects. Logs
// identify a receiver only by its host, since the rest of a URL may be a secret.
//
// # Ordering
//
// Each receiver gets messages one at a time, in the order of Notify.
package webhook
