// Package mcpproxy implements `hook-agent mcp-proxy`, a proxy between an MCP client and an MCP
// server that asks the hook router about each tool call and each read.
//
// # Relaying
//
// Messages are relayed byte for byte in both directions. For tools/call and the methods in reads,
// the proxy asks the router with tool:pre before the server gets the request, and with tool:post
// before the client gets the result. It asks through [agenthook.Gate], whose rules apply if no
// router answers. The messages of a batch are relayed one by one.
//
// # The client is the adversary
//
// A message that two parsers could interpret differently is refused: duplicate names or names that
// differ only in case, ids that have several representations, line breaks within a message, unknown
// methods that start with tools/. An id stays in use until the server has answered, so that no
// result is taken for the result of another request. The result of a task counts as the result of
// the call that started it; requests about a task that the proxy did not see start are refused.
//
// The package does not use a session of the MCP SDK. The SDK decodes and encodes messages, so it
// can't relay unknown members or detect ambiguous messages.
//
// # Failure
//
// After any failure, a call without a decision does not run, and a result without a decision is
// withheld. The model gets the reason as the result of its call.
package mcpproxy
