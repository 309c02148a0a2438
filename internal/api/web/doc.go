// Package web is what the router's HTTP servers have in common: the names that they are
// served as, tokens that are wrong, and the form of a refusal.
package web
