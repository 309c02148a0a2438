// Package drift compares what the newest versions of coding agents send their hooks with
// the samples that hook-agent is tested with:
//
//	AGENTS=all go test -v ./test/agents/drift
//
// It installs versions that nobody has tried yet, runs each once against a stub model, and
// says which events and fields are new, gone or of another type. Without AGENTS it checks
// only how it compares.
package drift
