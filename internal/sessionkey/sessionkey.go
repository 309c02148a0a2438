// Package sessionkey names sessions on the bus. A session id is what an agent says; where
// the connection proves who sends, the session is the sender's own, whatever id another
// sender uses.
package sessionkey

import "strings"

// separator is in no session id: they are text.
const separator = "\x00"

// Of names a session: of a proven sender, or of whoever knows the id where the sender is
// empty. Without an id there is no session, and the name is empty.
func Of(sender, id string) string {
	if sender == "" || id == "" {
		return id
	}
	return id + separator + sender
}

// Split returns what a name was made of.
func Split(name string) (sender, id string) {
	id, sender, _ = strings.Cut(name, separator)
	return sender, id
}
