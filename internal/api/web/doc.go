// Package web contains what the router's HTTP servers share: the host names they serve, the
// throttling of wrong tokens, and the form of refusals and health probes.
package web
