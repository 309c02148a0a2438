// Package agentapi contains what the endpoints for agents over NATS and HTTP share. It decodes
// requests for package dispatch and encodes its answers in the headers of the wire protocol. It is
// independent of the transport.
//
// [API.Begin] counts the requests in flight of all endpoints and refuses those above the limit.
// [API.Drain] waits for the requests of endpoints that do not wait for them on their own.
package agentapi
