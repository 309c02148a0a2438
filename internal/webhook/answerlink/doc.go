// Package answerlink makes and checks links that answer one approval request with one
// option, for webhooks: whoever opens the link may give that answer and no other.
//
// # Security
//
// A link is an address of the console with a token in its fragment, which browsers send to
// no server and link previews do not follow. The token is bound to the approval request,
// its data, the option and the time at which the request expires. It is used up when the
// request has its decision, since there is only one for each.
//
// The key is derived from the webhook secret: a receiver of webhooks is sent all links
// anyway, and all routers that share the secret accept the links of each other.
package answerlink
