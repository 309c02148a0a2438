// Package redact replaces secrets in JSON and in texts by [REDACTED:kind], and
// leaves every other byte as it is.
//
// # Usage
//
// [Rules] are for what is kept or shown: logs, observers, approval requests. They know
// secrets by form and by name, and a file can change them, see [ParseRules].
// [Object], [Text] and [Options] are for data that goes on to be used, as in a
// hook: they know secrets by form only, so that a value keeps its type.
//
// # What it finds
//
//	card            payment card numbers of 16 digits: in four groups joined by
//	                dashes, or plain or in four groups joined by spaces where the
//	                check digit is right
//	aws-key         access key ids of AWS (AKIA…, ASIA…)
//	github-token    tokens of GitHub (ghp_…, gho_…, github_pat_…)
//	gitlab-token    tokens of GitLab (glpat-…)
//	slack-token     tokens of Slack (xoxb-…, xoxp-…, xapp-…)
//	google-key      keys and tokens of Google (AIza…, ya29.…, GOCSPX-…)
//	stripe-key      keys of Stripe (sk_live_…, rk_live_…)
//	npm-token       tokens of npm (npm_…)
//	pypi-token      tokens of PyPI (pypi-…)
//	nkey-seed       seeds of NATS (SUA…, SAA…, SOA…)
//	webhook-secret  secrets of webhooks (whsec_…)
//	access-token    tokens of Hugging Face, Vault, DigitalOcean, Docker, SendGrid
//	api-key         keys that begin with sk- and have a digit
//	private-key     PEM and PGP blocks with a private key
//	jwt             JSON Web Tokens
//	authorization   what follows Bearer, or Basic where it is a name and password
//	url-password    the password in a URL
//	email           e-mail addresses, with [Rules] or [Options.Emails]
//	assignment      with [Rules]: the value given to a name that ends with password,
//	                secret, token, api_key and the like; headers with credentials
//	key             with [Rules]: the value, whatever it is, of a member named
//	                password, secret, token, cookie and the like
//
// # What it does not find
//
// It knows forms and names, not meanings: a password alone in a sentence has
// neither. Numbers, and the names of members, are not searched; nor is a secret
// found that is encoded (base64, percent signs) or spread over several values.
// Treat it as a net under the rope.
//
// # Cost
//
// Data without a hint of a secret is returned as it came, without an allocation:
// it takes 2 to 3 µs per KiB, which is less than to check its syntax with
// encoding/json. The time for other data grows with its length, too; only the
// expressions of a rules file may take longer.
//
// # Concurrency
//
// Everything here is a pure function of its arguments.
package redact
