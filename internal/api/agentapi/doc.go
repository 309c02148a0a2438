// Package agentapi is what the endpoints for agents share, over NATS and HTTP: they decode
// requests for package dispatch and encode its answers in the headers of the wire protocol. It
// knows no connection.
//
// [API.Begin] counts the requests in flight of all endpoints and refuses those above the limit.
// [API.Drain] waits for the requests of endpoints that do not wait themselves.
package agentapi
