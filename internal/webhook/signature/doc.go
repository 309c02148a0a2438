// Package signature signs HTTP requests as Standard Webhooks 1.0.0 has it: the
// headers webhook-id, webhook-timestamp and webhook-signature, "v1," and the
// HMAC-SHA256 of "id.timestamp.body" in base64.
package signature
