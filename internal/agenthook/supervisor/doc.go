// Package supervisor is the process that a coding agent starts as its hook. It asks a router of the
// same user on this machine, or starts a second process that asks the router. It detects that the
// second process dies, hangs or sends an invalid answer.
//
// It imports few packages, so that it can run before the rest of the program is initialized, which
// takes most of the time of a hook.
package supervisor
