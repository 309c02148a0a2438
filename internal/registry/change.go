package registry

import (
	"bytes"
	"encoding/json"
)

// Change is a change of a registration, about to be made.
type Change struct {
	Action       string // registered, changed, instance, unregistered, instance_removed, expired, lost, accepted, pinned, unpinned, disabled or enabled
	Hook         string // its id
	Session      string // for the hook of one session
	Instance     string // the instance concerned; empty if the change is about the hook
	By           string // the proven sender
	Reason       string
	Revision     uint64          // of the registration that it replaces; 0 for none
	Registration json.RawMessage // as it will be; nil if it is removed
}

// same reports whether two changes are equal apart from their revisions.
func (c Change) same(other Change) bool {
	return c.Action == other.Action && c.Hook == other.Hook && bytes.Equal(c.Registration, other.Registration)
}

// registering returns the change that a registration makes.
func registering(by string, old *hook, next record, inst string) Change {
	c := Change{Action: "registered", Hook: next.Registration.ID, Session: next.Registration.SessionID, Instance: inst, By: by}
	if old != nil {
		c.Revision, c.Action = old.revision, "changed"
		if digest(old.Registration) == digest(next.Registration) {
			c.Action = "instance"
		}
	}
	c.Registration, _ = json.Marshal(next.Registration) // strings, numbers and lists only
	return c
}

// removing returns the change that the removal of an instance makes; inst "" removes the hook.
func removing(by string, old *hook, inst string) Change {
	c := Change{
		Action: "instance_removed", Hook: old.Registration.ID, Session: old.Registration.SessionID, Instance: inst, By: by, Revision: old.revision,
	}
	if inst == "" {
		c.Action = "unregistered"
	}
	return c
}
