// Package redaction is an example hook that masks secrets in what an agent sends
// out: card numbers, API keys, private keys, and e-mail addresses if asked to.
//
// It replaces them in every string of tool_input, at any depth, and leaves each
// other byte of the event as it was. What it knows as a secret, and what not, is
// the matter of package redact.
//
// It is called for tools that send something away (e-mail, web, MCP servers), not
// for those that write local files, where masking would damage the work.
//
// The guard denies when it fails, or when nobody answers for it.
package redaction
