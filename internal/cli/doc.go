// Package cli holds what the commands of hookctl share: the process around a command, the
// connection to NATS, and the exit codes.
//
// A command is a struct of flags with a method Run(ctx, *Env) error. The packages below
// this one have one noun each; package hookctl puts their commands together.
//
// # Output
//
// A command writes to [Env].Out: JSON if --json or HOOKCTL_FORMAT asks for it, else text.
// Everything beside the output goes to Stderr.
//
// # Errors
//
// An error says what to do. [Complain] writes it and picks the exit code. A command that
// succeeds with another code than 0 sets [Env].Exit.
package cli
