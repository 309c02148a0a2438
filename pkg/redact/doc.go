// Package redact replaces secrets in the string values of JSON and leaves every
// other byte as it is.
//
// # What it finds
//
//	card          payment card numbers of 16 digits: in four groups joined by
//	              dashes, or plain or in four groups joined by spaces where the
//	              check digit is right
//	aws-key       access key ids of AWS (AKIA…, ASIA…)
//	github-token  tokens of GitHub (ghp_…, gho_…, github_pat_…)
//	api-key       keys that begin with sk-
//	slack-token   tokens of Slack (xoxb-…, xoxp-…)
//	private-key   PEM blocks with a private key
//	email         e-mail addresses, with [Options.Emails] only
//
// # What it does not find
//
// It knows forms, not meanings: a password has no form. Numbers, and the names of
// members, are not searched; nor is a secret found that is encoded (base64,
// percent signs) or spread over several values. Treat it as a net under the rope.
//
// # Concurrency
//
// Everything here is a pure function.
package redact
