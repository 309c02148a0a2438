// Package textdiff shows how one text became another: the lines that changed, with some
// around them, and the words that changed in a line.
//
// It is made for texts that somebody hostile may have chosen: it bounds what it compares,
// and what is too much is shown as removed and added whole, never left out without a word.
// It does not make text safe to look at; who shows it does.
package textdiff
