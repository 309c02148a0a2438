// Package notify is the builtin notify: it notifies a person, on the desktop of the worker's
// machine or through a webhook, that an agent needs attention or is done.
//
//	hooks:
//	  - id: notify
//	    builtin:
//	      notify:
//	        text: "{event}: {message}"
//	        url_env: NOTIFY_URL
//	        secret_env: NOTIFY_SECRET
//
// # Content
//
// The text has a few fields of the event. They are cut, known forms of secrets are masked, and
// control characters, links and mentions are removed. A webhook gets the text as JSON in the member
// text, with a Standard Webhooks signature if a secret is configured. The request is sent once and
// follows no redirects; an error counts as a failure of the hook.
//
// # Rate
//
// The same text is sent at most once a minute, and per_minute limits the texts in all. Texts over
// these limits are dropped. Each replica of the worker has its own limits.
package notify
