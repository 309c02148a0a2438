// Package jsondiff edits and compares JSON objects. Members keep their order and their
// bytes, numbers their digits.
package jsondiff
