// Package suggest turns answers that people gave again and again into approval rules.
//
// A [Log] is what the audit log has on approval requests and denials; [Log.Add] reads it.
// [Suggest] finds commands that people allowed, and makes a rule of each that holds: for the
// same hook, question, tool, directory and sender, in sessions without labels. A rule names
// every word of the command. Only a file that varied within one directory becomes *.ending.
//
// # The adversary
//
// The agent chooses what is asked, how often, and in which session, and so what a rule could
// be made of. So an answer counts only where a person who is proven gave it; every command is
// counted for itself; and a [Judge] refuses what destroys, sends, reads secrets or runs code
// that the agent can write, for each command, for the pattern as a shell's glob, and for names
// that it could have. What a person or a hook ever denied, whatever the session, refuses each
// rule that it would match. A rule says what people said: it can't say what a program does.
// Links are not followed: a rule about conf/*.yaml holds for a link of such a name.
//
// Everything here is used by one goroutine.
package suggest
