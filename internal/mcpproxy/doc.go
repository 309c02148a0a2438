// Package mcpproxy stands between an MCP client and an MCP server, and has the hook router
// judge each tool call: `hook-agent mcp-proxy` consists of it.
//
// # What is relayed
//
// A message goes on byte for byte as it came, in both directions. tools/call is asked about
// with tool:pre before the server sees it, and its result with tool:post before the client
// sees that; both as [agenthook.Gate] asks, and with its rules where no router answers. A
// batch goes on as single messages.
//
// # The client is the adversary
//
// What two readers could take for two different messages is refused and not relayed: names
// that occur twice or differ in case only, ids that could be repeated in another form, line
// breaks within a message, methods that begin with tools/ and are not known. An id is in use
// until the server has answered, so that no result passes for that of another request. What a
// task returned counts as the result of the call that started it; a task that nobody saw
// start is refused.
//
// The relay is its own, and no session of the MCP SDK: that one reads a message and writes
// it anew, so it could not relay what it does not know, nor notice what two readers read in
// two ways.
//
// # Failure
//
// Whatever goes wrong, a call that was not decided does not run, and a result that was not
// decided is withheld. The model reads why, as the result of its call.
package mcpproxy
