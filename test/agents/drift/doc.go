// Package drift compares the hook input of the newest versions of coding agents with the samples
// that hook-agent is tested with:
//
//	AGENTS=all go test -v ./test/agents/drift
//
// It installs versions that are not tested yet, runs each once against a stub model, and reports
// events and fields that are new, gone or of another type. In Claude Code's program it looks for
// hook events that nobody has reviewed. Without AGENTS, it tests only the comparison.
package drift
