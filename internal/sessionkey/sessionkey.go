// Package sessionkey names sessions on the bus. A session id is what an agent says; where
// the connection proves who sends, the session is the sender's own, whatever id another
// sender uses.
package sessionkey

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// separator is in no session id: they are text.
const separator = "\x00"

// Of returns the name of a session. With a proven sender it is the sender's own; with an empty one
// it belongs to whoever knows the id. Without an id the name is empty.
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

// Digest is a text as one token of a key in a store: its SHA-256, since sessions, senders and agents
// have characters that keys do not.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
