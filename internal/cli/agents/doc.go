// Package agents connects the coding agents of this machine to the router: it adds hook-agent to
// their configuration, removes it, and tests it.
//
// Configurations are edited in place: all other bytes stay, including comments. The first edit
// leaves a backup next to the file. Disconnecting restores the backup if nothing else has changed
// since.
package agents
