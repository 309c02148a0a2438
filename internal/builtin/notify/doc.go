// Package notify is the builtin notify: it tells a person on the desktop of the
// worker's machine, or a webhook, that an agent needs somebody or is done.
//
//	hooks:
//	  - id: notify
//	    builtin:
//	      notify:
//	        text: "{event}: {message}"
//	        url_env: NOTIFY_URL
//	        secret_env: NOTIFY_SECRET
//
// # What it tells
//
// A text of a few fields of the event, cut, with known forms of secrets masked, and without
// control characters, links and mentions. A webhook gets it as JSON, in the member text, signed
// as Standard Webhooks has it where there is a secret. It is tried once: redirects are not
// followed, and what fails is a failure of the hook, which is counted.
//
// # How often
//
// The same text is sent once in a minute, and so many texts a minute in all; what is
// too much is dropped. Each replica of the worker counts for itself.
package notify
