// Package jsonedit edits and compares JSON objects. Members keep their order and their bytes, and
// numbers keep their digits.
package jsonedit
