// Package agents puts the coding agents of this machine behind the router: it writes
// hook-agent into their configuration, takes it out again, and tries it.
//
// A configuration that people keep is edited in place: what was there keeps its bytes,
// comments included. The first edit leaves a copy beside the file, and where nothing else
// has changed since, disconnecting puts exactly that back.
package agents
