// Package agentapi is what the endpoints for agents have in common, whatever they speak:
// they read a request into what package dispatch decides, and say its answer in the headers
// of the wire protocol. It knows no connection.
//
// [API.Begin] counts the requests under way, of all endpoints together, and refuses more
// than the limit; [API.Drain] waits for those of the endpoints that do not wait themselves.
package agentapi
