// Package sessionkey names sessions. Agents choose session ids. If the connection proves the
// sender, the session belongs to that sender, even if another one uses the same id.
package sessionkey

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// separator is not part of any session id, since these are text without NUL.
const separator = "\x00"

// Of returns the name of a session. With a proven sender, the session belongs to the sender. With
// an empty one, it belongs to anyone who knows the id. Without an id the name is empty.
func Of(sender, id string) string {
	if sender == "" || id == "" {
		return id
	}
	return id + separator + sender
}

// Split reverses [Of].
func Split(name string) (sender, id string) {
	id, sender, _ = strings.Cut(name, separator)
	return sender, id
}

// Digest returns the SHA-256 of a text as one token of a key in a store. Sessions, senders and
// agents may contain characters that keys can't.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
