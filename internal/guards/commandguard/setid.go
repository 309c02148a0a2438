package commandguard

import (
	"regexp"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// setID matches a mode that gives everyone who runs a file the rights of its owner or group.
var setID = regexp.MustCompile(`^(--mode=|-[A-Za-z]*m)?(0*[2-7][0-7]{3}|(.*,)?[ugoa]*[+=][rwxXt]*s.*)$`)

// setsID reports whether a command sets such a mode.
func setsID(c shell.Command) shell.Found {
	if c.Name() != "chmod" && c.Name() != "install" {
		return shell.No
	}
	return shell.FoundIf(c.AnyArg(setID.MatchString))
}
