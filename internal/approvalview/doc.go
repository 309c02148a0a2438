// Package approvalview lays out what an approval request is about, for the person who judges it:
// the command or the path first, an edit as one diff of lines and words, what hooks
// changed, and then everything else, so that nothing is left out.
//
// The terminal and the console draw the same [View]. It contains what an agent wrote: who
// draws it makes it safe to look at.
package approvalview
