// Package redaction is the builtin redaction: it masks secrets in what tools are
// given, in what they return, and in prompts, before anybody goes on with it. All
// other bytes of the data stay as they were.
//
//	hooks:
//	  - id: redaction
//	    builtin:
//	      redaction:
//	        emails: true
//	        keep: [token_count]
//	        mask: "***"
//
// What is a secret is the matter of package redact: keys and tokens by their form,
// payment cards with the right check digit, private keys, passwords in URLs, and mail
// addresses where it is asked to. With a rules file, as that of hook-router
// --audit-redact, also by name and by expressions.
//
// An agent that can't change what a tool returned, or a prompt, goes on with what it
// has: see what each can honour in docs/agents.md.
package redaction
