// Package shorten bounds foreign text that messages, labels and log lines quote. It cuts between
// characters, so that UTF-8 stays UTF-8.
package shorten

import (
	"strings"
	"unicode/utf8"
)

// Bytes returns text if it has at most limit bytes. A longer one it cuts after at most limit
// bytes, drops what is not UTF-8 from the rest, and appends mark.
func Bytes(text string, limit int, mark string) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + mark
}

// Runes returns text if it has at most limit characters. A longer one it cuts after limit
// characters, and appends mark.
func Runes(text string, limit int, mark string) string {
	if len(text) <= limit || utf8.RuneCountInString(text) <= limit {
		return text
	}
	return string([]rune(text)[:limit]) + mark
}
