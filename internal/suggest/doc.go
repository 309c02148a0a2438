// Package suggest derives approval rules from answers that people gave repeatedly.
//
// A [Log] has the approval requests and denials of the audit log; [Log.Add] reads a record.
// [Suggest] finds commands that people allowed, and creates rules for them. A rule applies to the
// same hook, question, tool, directory and sender, in sessions without labels. It names every word
// of the command. Only a file that varied within one directory becomes *.ending.
//
// # Threat model
//
// The agent chooses what is asked, how often, and in which session, and thus what a rule could be
// derived from. Therefore an answer counts only if a person with a proven identity gave it. Every
// command is counted separately. A [Judge] refuses anything that destroys, sends, reads secrets or
// runs code that the agent can write: for each command, for the pattern as a shell glob, and for
// other names that the pattern matches. Anything that a person or a hook ever denied, in any
// session, refuses each rule that would match it. A rule repeats what people decided; it can't know
// what a program does. Links are not followed: a rule about conf/*.yaml also applies to a symbolic
// link with a matching name.
//
// Everything in this package is used by one goroutine.
package suggest
