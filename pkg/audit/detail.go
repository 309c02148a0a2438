package audit

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Data describes an event's data in a record.
type Data struct {
	SHA256   string          // of the data, or of salt and data if Salt is set, in hex
	Salt     string          // identifies the salt; empty if the digest has none
	Value    json.RawMessage // the data or a view of it; nil if left out
	Redacted bool            // Value is a redacted view
	Omitted  int             // size of a value that was too large for the record, in bytes
}

func (d *Data) write(w *events.ObjectWriter, name string) {
	if d == nil {
		return
	}
	w.Object(name, func(w *events.ObjectWriter) {
		w.Text("sha256", d.SHA256)
		w.Text("salt", d.Salt)
		raw(w, "value", d.Value)
		w.Flag("redacted", d.Redacted)
		if d.Omitted > 0 {
			w.Int("omitted", int64(d.Omitted))
		}
	})
}

// raw writes JSON byte for byte, except that it compacts JSON with line breaks or other control
// characters.
func raw(w *events.ObjectWriter, name string, value json.RawMessage) {
	if len(value) == 0 {
		return
	}
	if hasControl(value) {
		compact := jsontext.Value(bytes.Clone(value))
		if err := compact.Compact(); err != nil {
			w.String(name, string(value))
			return
		}
		value = json.RawMessage(compact)
	}
	w.Raw(name, value)
}

// hasControl reports whether text has a control character. It tests eight bytes at a time.
func hasControl(text []byte) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; len(text) >= 8; text = text[8:] {
		if w := binary.LittleEndian.Uint64(text); (w-ones*' ')&^w&tops != 0 {
			return true
		}
	}
	return slices.ContainsFunc(text, func(c byte) bool { return c < ' ' })
}

// Call is the detail of [HookResult], [HookError], [HookTimeout] and [HookSkipped]: the outcome of
// one hook.
type Call struct {
	Reason     string          // the hook's reason
	Rule       string          // the rule that decided, as named by the worker
	Policy     string          // the version of the policy that the hook applied, as named by the worker
	Failure    string          // class of the failure; empty if there was none
	Error      string          // cause of the failure
	FailedOpen bool            // the hook failed and was skipped
	Shadow     bool            // the answer does not count
	Late       bool            // the call was made after the chain's answer: injections are for the next turn
	Group      int             // number of the group of hooks called concurrently, from 1; 0 and left out if called alone
	Start      time.Time       // of the call, in UTC with microseconds; left out if zero
	Took       time.Duration   // written in microseconds
	Data       *Data           // the data as the hook changed it; nil if unchanged
	Changes    json.RawMessage // a JSON Patch from the earlier data to Data; nil if unchanged
	Labels     []string        // added to the session
	Injection  *Data           // text to inject, as a JSON string
	Message    string          // to the user
}

func (c Call) write(w *events.ObjectWriter) {
	w.Text("reason", c.Reason)
	w.Text("rule", c.Rule)
	w.Text("policy", c.Policy)
	w.Text("failure", c.Failure)
	w.Text("error", c.Error)
	w.Flag("failed_open", c.FailedOpen)
	w.Flag("shadow", c.Shadow)
	w.Flag("late", c.Late)
	if c.Group > 0 {
		w.Int("group", int64(c.Group))
	}
	if !c.Start.IsZero() {
		w.String("started", c.Start.UTC().Format(startLayout))
	}
	w.Int("us", c.Took.Microseconds())
	c.Data.write(w, "data")
	raw(w, "changes", c.Changes)
	labels(w, c.Labels)
	c.Injection.write(w, "injection")
	w.Text("message", c.Message)
}

// Chain is the detail of [ChainResult]: what an event contained, and what was decided and why.
type Chain struct {
	Agent      string // the CloudEvents source, as claimed by the agent
	Emitter    string // the proven sender
	Reason     string
	DeniedBy   string   // id of the hook that denied
	ApprovalID string   // of the approval request that Action refers to
	Labels     []string // of the session when the event was decided
	Root       string   // the session at the root of the tree of sub-agents; empty if this one is
	Depth      int      // number of sessions above this one
	Called     int      // number of hooks called
	Skipped    int      // number of hooks whose match was false
	Took       time.Duration
	In         *Data // as sent by the agent
	Out        *Data // as the chain left it; nil if unchanged
}

func (c Chain) write(w *events.ObjectWriter) {
	w.Text("agent", c.Agent)
	w.Text("emitter", c.Emitter)
	w.Text("reason", c.Reason)
	w.Text("denied_by", c.DeniedBy)
	w.Text("approval_id", c.ApprovalID)
	labels(w, c.Labels)
	w.Text("root", c.Root)
	if c.Depth > 0 {
		w.Int("depth", int64(c.Depth))
	}
	w.Int("called", int64(c.Called))
	w.Int("skipped", int64(c.Skipped))
	w.Int("us", c.Took.Microseconds())
	c.In.write(w, "in")
	c.Out.write(w, "out")
}

// Injection is the detail of [InjectionKind]: a text for an agent's context, and whether it was
// delivered.
type Injection struct {
	Role      string
	Bytes     int // of the text
	Tokens    int // of the turn's budget
	Ephemeral bool
	Dropped   string // why it was not delivered; empty if it was
	Cleaned   int    // number of characters removed
	Late      bool   // its hook was called for an earlier event
	Text      *Data  // the text, as a JSON string
}

func (i Injection) write(w *events.ObjectWriter) {
	w.Text("role", i.Role)
	w.Int("bytes", int64(i.Bytes))
	w.Int("tokens", int64(i.Tokens))
	w.Flag("ephemeral", i.Ephemeral)
	w.Flag("late", i.Late)
	w.Text("dropped", i.Dropped)
	if i.Cleaned > 0 {
		w.Int("cleaned", int64(i.Cleaned))
	}
	i.Text.write(w, "text")
}

// Display is the detail of [DisplayKind]: a message to the user.
type Display struct {
	Level      string
	Message    string
	Suppressed bool // the hook's own output was hidden
}

func (d Display) write(w *events.ObjectWriter) {
	w.Text("level", d.Level)
	w.Text("message", d.Message)
	w.Flag("suppressed", d.Suppressed)
}

// Change is the detail of [RegistrationKind]: a change of a hook's registration.
type Change struct {
	Revision     int64           // of the previous registration; 0 if there is none
	By           string          // the proven identity
	Instance     string          // the process that the change is about
	Reason       string          // for example that no worker sent heartbeats
	Registration json.RawMessage // the new registration; nil if removed
}

func (c Change) write(w *events.ObjectWriter) {
	w.Int("revision", c.Revision)
	w.Text("by", c.By)
	w.Text("instance", c.Instance)
	w.Text("reason", c.Reason)
	raw(w, "registration", c.Registration)
}

// Freeze is the detail of [FreezeKind]: an operator's order.
type Freeze struct {
	Scope  string // "all", "agent" or "session"; the session is the record's
	Agent  string // empty unless the order is for one agent
	By     string // the operator, if proven
	Reason string // as shown to agents
}

func (f Freeze) write(w *events.ObjectWriter) {
	w.String("scope", f.Scope)
	w.Text("agent", f.Agent)
	w.Text("by", f.By)
	w.Text("reason", f.Reason)
}

// Labels is the detail of [LabelsKind]: labels that a session lost or kept.
type Labels struct {
	Labels     []string
	ApprovalID string // of the approval request that asked
	By         string // the proven identity of the person
	Agent      string // the agent whose session it is, if proven
}

func (l Labels) write(w *events.ObjectWriter) {
	labels(w, l.Labels)
	w.Text("approval_id", l.ApprovalID)
	w.Text("decided_by", l.By)
	w.Text("emitter", l.Agent)
}

// Policy is the detail of [PolicyKind]: a signed policy that was pushed for workers. Its fields are
// as the policy claims, since routers do not check its signature.
type Policy struct {
	Version string // name, serial and digest
	Was     string // the version that it replaces; empty if there is none
	Use     string // "enforce", or "shadow" if its answers do not count
	Commit  string // of its files; empty if not given
	By      string // the proven identity that pushed it
}

func (p Policy) write(w *events.ObjectWriter) {
	w.String("policy", p.Version)
	w.Text("was", p.Was)
	w.String("use", p.Use)
	w.Text("commit", p.Commit)
	w.Text("by", p.By)
}

// Identity is the detail of [IdentityKind]: what a router read about an identity's credentials.
type Identity struct {
	Name     string          // role and name, such as "agent/coder"; empty for action "loaded"
	Digest   string          // of identities.json, as "sha256:<hex>"
	Identity json.RawMessage // its new entry in identities.json; nil if removed
}

func (i Identity) write(w *events.ObjectWriter) {
	w.Text("name", i.Name)
	w.String("digest", i.Digest)
	raw(w, "identity", i.Identity)
}

func labels(w *events.ObjectWriter, list []string) {
	if len(list) > 0 {
		w.Texts("labels", list)
	}
}

// Note is the detail of [LogKind]: an event of the log itself.
type Note struct {
	Reason string
	Lost   int // number of records that were never written
}

func (n Note) write(w *events.ObjectWriter) {
	w.Text("reason", n.Reason)
	if n.Lost > 0 {
		w.Int("lost", int64(n.Lost))
	}
}
