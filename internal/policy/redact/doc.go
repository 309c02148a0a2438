// Package redact replaces secrets in JSON and in text by [REDACTED:kind]. All other bytes stay the
// same.
//
// # Usage
//
// [Rules] are for data that is stored or displayed: logs, observers, approval requests. They
// recognize secrets by form and by name, and a file can change them, see [ParseRules]. [Object],
// [Text] and [Options] are for data that is processed further, as in a hook: they recognize secrets
// by form only, so that every value keeps its type.
//
// # What it finds
//
//	card            payment card numbers of 16 digits: in four groups joined by
//	                dashes; or plain, or in four groups joined by spaces, with a
//	                valid check digit
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
//	authorization   the credentials after Bearer, or after Basic if they decode to a name
//	                and a password
//	url-password    the password in a URL
//	email           e-mail addresses, with [Rules] or [Options.Emails]
//	assignment      with [Rules]: the value assigned to a name that ends with password,
//	                secret, token, api_key and the like; headers with credentials
//	key             with [Rules]: any value of a member named password, secret, token,
//	                cookie and the like
//
// # What it does not find
//
// It knows forms and names, not meanings: a password in a sentence has neither. Numbers and the
// names of members are not searched, and secrets that are encoded (base64, percent encoding) or
// split across several values are not found. Do not rely on it as the only protection.
//
// # Cost
//
// Data without a hint of a secret is returned unchanged and without an allocation. This takes 2 to
// 3 µs per KiB, which is less than checking its syntax with encoding/json. The time for other data
// is linear in its length, too; only the expressions of a rules file may take longer.
//
// # Concurrency
//
// All functions are safe for concurrent use.
package redact
