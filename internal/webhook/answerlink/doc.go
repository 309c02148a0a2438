// Package answerlink makes and checks links in webhooks that answer one approval request with one
// option. Anyone who opens a link may give that answer and no other.
//
// # Security
//
// A link is an address of the console with a token in its fragment, which browsers do not send to
// servers and link previews do not follow. The token is bound to the approval request, its data,
// the option and the request's expiry. It becomes useless when the request is decided, since a
// request is decided only once.
//
// The key is derived from the webhook secret: receivers of webhooks get all links anyway, and
// routers that share the secret accept each other's links.
package answerlink
