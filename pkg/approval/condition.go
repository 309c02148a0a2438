package approval

import (
	"fmt"
	"slices"
	"strings"
)

// Facts are what [Rules] match an approval request by: the question, and what the router knows of
// the event's session and sender. The zero value is a session without labels and an unproven
// sender.
type Facts struct {
	Hook, Tool, Prompt string
	Labels             []string // of the session
	Emitter            string   // the proven sender; empty for none
	Role               string   // of that identity
	Root               string   // root of the tree of sub-agents, as the agent claims
	Depth              int      // number of sessions above, as the agent claims
	Command            string   // a plain shell command; [Facts.WithCall] sets it
	Cwd                string   // the command's directory
	DenyOnly           bool     // several people must allow: rules may only deny
	// Questions is set if one answer covers the questions of several hooks. Hook and Prompt are
	// then ignored. A rule that denies one question denies the request; to allow it, rules must
	// allow every question.
	Questions []Question
}

// Question is the question of one hook.
type Question struct {
	Hook   string `json:"hook"`
	Prompt string `json:"prompt"`
}

// each returns the facts of each question.
func (f Facts) each() []Facts {
	if len(f.Questions) == 0 {
		return []Facts{f}
	}
	list := make([]Facts, len(f.Questions))
	for i, q := range f.Questions {
		list[i] = f
		list[i].Hook, list[i].Prompt = q.Hook, q.Prompt
	}
	return list
}

// LabelCondition matches the labels of a session with globs. If both Any and None are set, both
// must hold.
type LabelCondition struct {
	Any  []string `json:"any,omitempty"`  // the session has a label that one of these matches
	None []string `json:"none,omitempty"` // it has no label that one of these matches
}

// EmitterCondition matches the sender of an event. All fields that are set must hold. ID and Role
// match proven senders only.
type EmitterCondition struct {
	ID     string `json:"id,omitempty"` // a glob for the whole identity, such as "nats agent/ci-*"
	Role   string `json:"role,omitempty"`
	Proven *bool  `json:"proven,omitempty"`
}

// LineageCondition matches the place of a session in its tree of sub-agents. Agents claim it and
// may omit it, so it does not justify an allow on its own. All fields that are set must hold.
type LineageCondition struct {
	Root     string `json:"root,omitempty"` // a glob for the session at the root
	MinDepth *int   `json:"min_depth,omitempty"`
	MaxDepth *int   `json:"max_depth,omitempty"`
}

func (c *LabelCondition) holds(f Facts) bool {
	if c == nil {
		return true
	}
	has := func(globs []string) bool {
		return slices.ContainsFunc(f.Labels, func(label string) bool {
			return slices.ContainsFunc(globs, func(glob string) bool { return Glob(glob, label) })
		})
	}
	return (len(c.Any) == 0 || has(c.Any)) && !has(c.None)
}

func (c *EmitterCondition) holds(f Facts) bool {
	proven := f.Emitter != ""
	return c == nil ||
		(c.Proven == nil || *c.Proven == proven) &&
			(c.ID == "" || proven && Glob(c.ID, f.Emitter)) &&
			(c.Role == "" || proven && c.Role == f.Role)
}

func (c *LineageCondition) holds(f Facts) bool {
	return c == nil ||
		(c.Root == "" || Glob(c.Root, f.Root)) &&
			(c.MinDepth == nil || f.Depth >= *c.MinDepth) &&
			(c.MaxDepth == nil || f.Depth <= *c.MaxDepth)
}

// Conditions describes in one line what the rule requires of the call, the session and its sender;
// it is empty if there are no such conditions.
func (r Rule) Conditions() string {
	parts := appendText(appendText(nil, "command", r.Command), "cwd", r.Cwd)
	if c := r.Labels; c != nil {
		for _, globs := range [...]struct {
			name string
			list []string
		}{{"labels any", c.Any}, {"labels none", c.None}} {
			if len(globs.list) > 0 {
				parts = append(parts, globs.name+" "+strings.Join(globs.list, ","))
			}
		}
	}
	if c := r.Emitter; c != nil {
		parts = appendText(parts, "emitter", c.ID)
		parts = appendText(parts, "role", c.Role)
		if c.Proven != nil {
			parts = append(parts, fmt.Sprint("proven ", *c.Proven))
		}
	}
	if c := r.Lineage; c != nil {
		parts = appendText(parts, "root", c.Root)
		if c.MinDepth != nil {
			parts = append(parts, fmt.Sprint("depth >= ", *c.MinDepth))
		}
		if c.MaxDepth != nil {
			parts = append(parts, fmt.Sprint("depth <= ", *c.MaxDepth))
		}
	}
	return strings.Join(parts, ", ")
}

func appendText(parts []string, name, text string) []string {
	if text == "" {
		return parts
	}
	return append(parts, name+" "+text)
}
