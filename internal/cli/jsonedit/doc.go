// Package jsonedit edits and compares JSON objects. Members keep their order and their
// bytes, numbers their digits.
package jsonedit
