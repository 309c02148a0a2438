// Package signature signs HTTP requests according to Standard Webhooks 1.0.0: it sets the headers
// webhook-id, webhook-timestamp and webhook-signature, which is "v1," and the base64 HMAC-SHA256 of
// "id.timestamp.body".
package signature
