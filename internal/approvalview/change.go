package approvalview

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/textdiff"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Change describes how a value changed.
type Change struct {
	Name string        `json:"name"`
	Op   string        `json:"op,omitempty"` // of a JSON Patch
	Diff textdiff.Diff `json:"diff"`         // empty if it is masked
	// Masked says that the old and the new value differ only in secrets, which are masked.
	Masked bool `json:"masked,omitempty"`
}

// operation is an operation of a JSON Patch, with the old value.
type operation struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Old   json.RawMessage `json:"old"`
	Value json.RawMessage `json:"value"`
}

// Patch returns the changes in a JSON Patch whose operations have the old values.
func Patch(patch json.RawMessage) []Change {
	list := []Change{}
	var ops []operation
	if len(patch) == 0 {
		return list
	}
	if err := json.Unmarshal(patch, &ops); err != nil {
		return append(list, Change{Name: "can't be read", Diff: textdiff.Of("", string(patch))})
	}
	for _, op := range ops {
		change := Change{Name: path(op.Path), Op: op.Op, Masked: Masked(op.Old, op.Value)}
		before, after := "", ""
		if op.Old != nil {
			before = Lines(op.Old)
		}
		if op.Op != "remove" && op.Value != nil {
			after = Lines(op.Value)
		}
		if !change.Masked {
			change.Diff = textdiff.Of(before, after)
		}
		list = append(list, change)
	}
	return list
}

// Masked reports whether a value was replaced by one that looks the same, which means that both are
// masked.
func Masked(old, value json.RawMessage) bool { return old != nil && bytes.Equal(old, value) }

// ByHooks returns the changes that hooks made: [approval.Record.Changes] without the session id,
// which the router adds if the agent sent none.
func ByHooks(r approval.Record) json.RawMessage {
	var ops []json.RawMessage
	if json.Unmarshal(r.Changes, &ops) != nil {
		return r.Changes
	}
	var kept [][]byte
	for _, raw := range ops {
		if !stamped(raw, r.Session) {
			kept = append(kept, raw)
		}
	}
	if len(kept) == len(ops) {
		return r.Changes
	}
	return slices.Concat([]byte("["), bytes.Join(kept, []byte(",")), []byte("]"))
}

// stamped reports whether an operation adds the session id.
func stamped(raw json.RawMessage, session string) bool {
	var op operation
	var id string
	return json.Unmarshal(raw, &op) == nil && op.Op == "add" && op.Path == "/session_id" &&
		json.Unmarshal(op.Value, &id) == nil && id == session
}

// marker is the start of the text that replaces a secret; see package redact.
const marker = "[REDACTED:"

// masked reports whether secrets are masked in the data or the changes. The digest covers only the
// data, not the values that hooks removed, so the old values are searched for the marker. If an
// agent writes the marker itself, the result is true without a masked secret.
func masked(r approval.Record) bool {
	if r.DataSHA256 != "" && approval.Digest(r.Data) != r.DataSHA256 {
		return true
	}
	var ops []operation
	if json.Unmarshal(r.Changes, &ops) != nil {
		return false
	}
	for _, op := range ops {
		if bytes.Contains(op.Old, []byte(marker)) {
			return true
		}
	}
	return false
}

// path returns a JSON pointer in a form for people: tool_input.command.
func path(pointer string) string {
	name := strings.NewReplacer("/", ".", "~1", "/", "~0", "~").Replace(strings.TrimPrefix(pointer, "/"))
	if name == "" {
		return "everything"
	}
	return name
}

// Reason returns the reasons of hooks to ask, joined by "; ". It is empty if the prompt contains
// all of them, as the prompts of guards do.
func Reason(r approval.Record) string {
	for part := range strings.SplitSeq(r.Reason, "; ") {
		if !strings.Contains(r.Prompt, part) {
			return r.Reason
		}
	}
	return ""
}
