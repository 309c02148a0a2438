package registry

import (
	"bytes"
	"encoding/json"
)

// Change is a change of a registration that is about to be made.
type Change struct {
	Action       string // registered, changed, instance, unregistered, instance_removed, expired, lost, accepted, pinned, unpinned, disabled or enabled
	Hook         string // its id
	Session      string // of a hook of one session
	Instance     string // the process behind it that it is about; empty where it is about the hook
	By           string // the sender, as far as the connection proves
	Reason       string
	Revision     uint64          // of the registration that it follows; 0 for none
	Registration json.RawMessage // as it will be; nil: removed
}

// same reports whether two changes do the same, whatever revision they follow.
func (c Change) same(other Change) bool {
	return c.Action == other.Action && c.Hook == other.Hook && bytes.Equal(c.Registration, other.Registration)
}

// registering is the change that a registration makes.
func registering(by string, old *hook, next record, inst string) Change {
	c := Change{Action: "registered", Hook: next.Registration.ID, Session: next.Registration.SessionID, Instance: inst, By: by}
	if old != nil {
		c.Revision, c.Action = old.revision, "changed"
		if digest(old.Registration) == digest(next.Registration) {
			c.Action = "instance"
		}
	}
	c.Registration, _ = json.Marshal(next.Registration) // texts, numbers and lists
	return c
}

// removing is the change that the removal of an instance makes, or with inst "" that of
// the hook.
func removing(by string, old *hook, inst string) Change {
	c := Change{
		Action: "instance_removed", Hook: old.Registration.ID, Session: old.Registration.SessionID, Instance: inst, By: by, Revision: old.revision,
	}
	if inst == "" {
		c.Action = "unregistered"
	}
	return c
}
