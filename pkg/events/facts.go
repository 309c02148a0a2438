package events

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Attributes of an event that routers set, as CloudEvents extensions, in calls of hooks
// and for watchers. What an agent sends under the names of labels, emitter and role is
// removed; under those of lineage it is a claim.
const (
	AttrLabels  = "hooklabels"  // what the session has seen, names joined by ","
	AttrEmitter = "hookemitter" // who sent the event, as the connection proves
	AttrRole    = "hookrole"    // the role of that identity, where routers know it
	AttrRoot    = "hookroot"    // the session at the root of the tree of sub-agents
	AttrParent  = "hookparent"  // the session that spawned this one
	AttrDepth   = "hookdepth"   // how many sessions are above this one, from 1
)

// Limits of labels.
const (
	MaxLabels   = 16 // that one result may add
	MaxLabelLen = 64 // bytes of one
)

// CheckLabel says what is wrong with the name of a label, or nil: it is made of a-z, 0-9,
// '-', '_' and '.', begins with a letter or a digit, and has at most [MaxLabelLen] bytes.
func CheckLabel(label string) error {
	switch {
	case label == "":
		return errors.New("a label has no name")
	case len(label) > MaxLabelLen:
		return fmt.Errorf("the label %q has %d bytes: at most %d are allowed", clip(label), len(label), MaxLabelLen)
	case strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" || strings.ContainsRune("-_.", rune(label[0])):
		return fmt.Errorf("the label %q must be made of a-z, 0-9, '-', '_' and '.', and begin with a letter or a digit", clip(label))
	}
	return nil
}

// CheckLabels is [CheckLabel] for a list of at most [MaxLabels].
func CheckLabels(labels []string) error {
	if len(labels) > MaxLabels {
		return fmt.Errorf("%d labels: at most %d are allowed", len(labels), MaxLabels)
	}
	for _, label := range labels {
		if err := CheckLabel(label); err != nil {
			return err
		}
	}
	return nil
}

// Labels are what the event's session has seen, as the router says, in order; nil for
// nothing. The list is the caller's.
func (e Event) Labels() []string {
	joined := e.Extensions[AttrLabels]
	if joined == "" {
		return nil
	}
	return strings.Split(joined, ",")
}

// WithLabels returns the event with labels added to those that it has. The event itself
// stays as it is.
func (e Event) WithLabels(labels ...string) Event {
	all := UnionLabels(e.Labels(), labels)
	if len(all) == 0 {
		return e
	}
	return e.WithAttr(AttrLabels, strings.Join(all, ","))
}

// WithAttr returns the event with an extension attribute set, or removed where value is
// empty. The event itself stays as it is.
func (e Event) WithAttr(name, value string) Event {
	if had, there := e.Extensions[name]; had == value && there == (value != "") {
		return e
	}
	e.Extensions = maps.Clone(e.Extensions)
	switch {
	case value == "":
		delete(e.Extensions, name)
	case e.Extensions == nil:
		e.Extensions = map[string]string{name: value}
	default:
		e.Extensions[name] = value
	}
	return e
}

// WithEmitter returns the event with its sender, as the connection proves, and the sender's role;
// an empty id is of nobody.
func (e Event) WithEmitter(id string) Event {
	return e.WithAttr(AttrEmitter, id).WithAttr(AttrRole, RoleOf(id))
}

// RoleOf is the role in an identity such as "nats agent/coder"; empty for none.
func RoleOf(identity string) string {
	role, _, _ := strings.Cut(strings.TrimPrefix(identity, "nats "), "/")
	switch role {
	case "agent", "approver", "operator", "admin":
		return role
	}
	return ""
}

// UnionLabels are the labels of both lists in order, each once; nil for none.
func UnionLabels(a, b []string) []string {
	if len(a)+len(b) == 0 {
		return nil
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// NewLabels are those of labels that known lacks, in their order; nil for none.
func NewLabels(known, labels []string) (added []string) {
	for _, label := range labels {
		if !slices.Contains(known, label) && !slices.Contains(added, label) {
			added = append(added, label)
		}
	}
	return added
}
