package events

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Attributes that routers set, as CloudEvents extensions, in calls of hooks and for observers.
// Routers remove the attributes for labels, emitter and role that an agent sends. Those for the
// lineage are claims of the agent.
const (
	AttrLabels  = "hooklabels"  // labels of the session, joined by ","
	AttrEmitter = "hookemitter" // sender of the event, if the connection proves it
	AttrRole    = "hookrole"    // role of that identity, if known
	AttrRoot    = "hookroot"    // the session at the root of the tree of sub-agents
	AttrParent  = "hookparent"  // the session that spawned this one
	AttrDepth   = "hookdepth"   // number of sessions above this one
)

// Limits of labels.
const (
	MaxLabels   = 16 // added by one result
	MaxLabelLen = 64 // of one label, in bytes
)

// CheckLabel returns an error unless label is a valid name: a-z, 0-9, '-', '_' and '.', beginning
// with a letter or a digit, at most [MaxLabelLen] bytes.
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

// CheckLabels is [CheckLabel] for at most [MaxLabels] labels.
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

// Labels returns the labels of the event's session as set by the router, sorted; nil for none. The
// caller may modify the result.
func (e Event) Labels() []string {
	joined := e.Extensions[AttrLabels]
	if joined == "" {
		return nil
	}
	return strings.Split(joined, ",")
}

// WithLabels returns a copy of the event with labels added.
func (e Event) WithLabels(labels ...string) Event {
	all := UnionLabels(e.Labels(), labels)
	if len(all) == 0 {
		return e
	}
	return e.WithAttr(AttrLabels, strings.Join(all, ","))
}

// WithAttr returns a copy of the event with an extension attribute set, or removed if value is
// empty.
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

// WithEmitter returns a copy of the event with its proven sender and the sender's role. An empty id
// means that the sender is not proven.
func (e Event) WithEmitter(id string) Event {
	return e.WithAttr(AttrEmitter, id).WithAttr(AttrRole, RoleOf(id))
}

// RoleOf returns the role in an identity such as "nats agent/coder"; empty if there is none.
func RoleOf(identity string) string {
	role, _, _ := strings.Cut(strings.TrimPrefix(identity, "nats "), "/")
	switch role {
	case "agent", "approver", "operator", "admin":
		return role
	}
	return ""
}

// UnionLabels returns the labels of both lists, sorted and without duplicates; nil for none.
func UnionLabels(a, b []string) []string {
	if len(a)+len(b) == 0 {
		return nil
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// NewLabels returns the labels that are not in known, in order and without duplicates; nil for
// none.
func NewLabels(known, labels []string) (added []string) {
	for _, label := range labels {
		if !slices.Contains(known, label) && !slices.Contains(added, label) {
			added = append(added, label)
		}
	}
	return added
}
