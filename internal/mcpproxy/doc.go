// Package mcpproxy implements `hook-agent mcp-proxy`, a proxy between an MCP client and an MCP
// server that has the hook router judge each tool call and each read.
//
// # What is relayed
//
// Messages are relayed byte for byte in both directions. The router is asked about tools/call
// and the methods in reads with tool:pre before the server sees them, and about their results with
// tool:post before the client sees them, through [agenthook.Gate] and with its rules if no router
// answers. A batch is relayed as single messages.
//
// # The client is the adversary
//
// A message that two readers could read differently is refused: names that occur twice or
// differ only in case, ids that could be repeated in another form, line breaks within a
// message, unknown methods that begin with tools/. An id is in use until the server has
// answered, so that no result passes for that of another request. What a task returned counts
// as the result of the call that started it; a task whose start the proxy did not see is refused.
//
// It does not use a session of the MCP SDK, which decodes and encodes messages: that could
// not relay what it does not know, nor notice ambiguous messages.
//
// # Failure
//
// Whatever goes wrong, an undecided call does not run, and an undecided result is withheld.
// The model reads the reason as the result of its call.
package mcpproxy
