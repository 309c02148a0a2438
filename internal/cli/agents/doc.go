// Package agents connects the coding agents of this machine with the router: it adds
// hook-agent to their configuration, removes it, and tries it.
//
// Configurations are edited in place: all other bytes stay, comments included. The first edit
// leaves a copy beside the file. Disconnecting restores that copy if nothing else has changed
// since.
package agents
