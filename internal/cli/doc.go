// Package cli provides what the commands of hookctl share: the process environment, the connection
// to NATS, and the exit codes.
//
// A command is a struct of flags with a method Run(ctx, *Env) error. Each package below this one
// implements the commands for one noun; package hookctl combines them.
//
// # Output
//
// A command writes its output to [Env].Out: JSON if --json or HOOKCTL_FORMAT asks for it, else
// text. Everything else goes to Stderr.
//
// # Errors
//
// An error says what to do about it. [Complain] prints it and returns the exit code. A command that
// succeeds with an exit code other than 0 sets [Env].Exit.
package cli
