// Package approvalview lays out an approval request for the person who decides on it: first the
// command or the path, an edit as a diff of lines and words, the changes by hooks, and then all
// other data, so that nothing is omitted.
//
// The terminal and the console render the same [View]. It contains text of the agent, which the
// renderer must escape.
package approvalview
