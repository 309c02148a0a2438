// Package term prints the output of commands: JSON, or text in columns and colors.
//
// Untrusted text may contain control characters. [Clean] removes them. [Printable] shows each as a
// visible sign, for text that people must judge.
package term
