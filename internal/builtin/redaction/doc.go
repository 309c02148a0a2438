// Package redaction is the builtin redaction: it masks secrets in the input and output of tools and
// in prompts before they are processed further. All other bytes of the data stay unchanged.
//
//	hooks:
//	  - id: redaction
//	    builtin:
//	      redaction:
//	        emails: true
//	        keep: [token_count]
//	        mask: "***"
//
// Package redact decides what is a secret: keys and tokens of known forms, payment card numbers
// with a valid check digit, private keys, passwords in URLs, and, if enabled, email addresses. A
// rules file, in the format of hook-router --audit-redact, adds secrets by member name and by
// regular expression.
//
// Some agents can't replace a prompt or the output of a tool, and continue with the original:
// docs/agents.md lists what each agent supports.
package redaction
