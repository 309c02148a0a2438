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

// Data is what a record says of an event's data.
type Data struct {
	SHA256   string          // of the data, or of salt and data, in hex
	Salt     string          // names the salt; empty: the digest has none
	Value    json.RawMessage // the data or a view of it; nil for none
	Redacted bool            // Value is a redacted view
	Omitted  int             // bytes of a value that was too large to stand here
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

// raw writes JSON byte for byte, but removes white space that would break the line.
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

// hasControl reports whether text has a byte below the space, eight at a time.
func hasControl(text []byte) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; len(text) >= 8; text = text[8:] {
		if w := binary.LittleEndian.Uint64(text); (w-ones*' ')&^w&tops != 0 {
			return true
		}
	}
	return slices.ContainsFunc(text, func(c byte) bool { return c < ' ' })
}

// Call is what happened at one hook: the detail of [HookResult], [HookError],
// [HookTimeout] and [HookSkipped].
type Call struct {
	Reason     string          // the hook's
	Rule       string          // that decided, as the hook's worker names it
	Policy     string          // the version of the policy that it answered by, as the worker names it
	Failure    string          // the class of its failure; empty: it did not fail
	Error      string          // the failure's cause
	FailedOpen bool            // it failed and was let pass
	Shadow     bool            // its answer does not count
	Late       bool            // it came after the chain's: what it injects is for the next turn
	Group      int             // of hooks called at the same time, from 1; 0: called alone, left out
	Start      time.Time       // when the hook was called, written in UTC with microseconds; zero: left out
	Took       time.Duration   // written in microseconds
	Data       *Data           // what it made of the data; nil: it left it
	Changes    json.RawMessage // a JSON Patch to Data from the data before; nil for none
	Labels     []string        // that it adds to the session
	Injection  *Data           // the text that it wants to inject, as a JSON string
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

// Chain is what came in, what went out and why: the detail of [ChainResult].
type Chain struct {
	Agent      string // the CloudEvents source, as the agent claims
	Emitter    string // who sent it, as far as the connection proves
	Reason     string
	DeniedBy   string   // the id of the hook that denied
	ApprovalID string   // of the approval request that the action is about
	Labels     []string // that held for the session as the event was decided
	Root       string   // the session at the root of the tree of sub-agents; empty if this one is
	Depth      int      // how many sessions are above this one
	Called     int      // hooks
	Skipped    int      // hooks whose match was false
	Took       time.Duration
	In         *Data // as the agent sent it
	Out        *Data // as the chain left it; nil: as it came in
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

// Injection is a text for an agent's context, and whether it was used: the detail of
// [InjectionKind].
type Injection struct {
	Role      string
	Bytes     int // of the text
	Tokens    int // of the turn's budget
	Ephemeral bool
	Dropped   string // why it was not delivered; empty: it was
	Cleaned   int    // characters that were taken out
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

// Display is what the user was shown, or not: the detail of [DisplayKind].
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

// Change is a change of a hook's registration: the detail of [RegistrationKind].
type Change struct {
	Revision     int64           // of the registration that it follows; 0 for none
	By           string          // what the connection proves
	Instance     string          // the process behind the hook that it is about
	Reason       string          // such as that no worker was heard
	Registration json.RawMessage // as it is now; nil: removed
}

func (c Change) write(w *events.ObjectWriter) {
	w.Int("revision", c.Revision)
	w.Text("by", c.By)
	w.Text("instance", c.Instance)
	w.Text("reason", c.Reason)
	raw(w, "registration", c.Registration)
}

// Freeze is an order of an operator: the detail of [FreezeKind].
type Freeze struct {
	Scope  string // "all", "agent" or "session", which is that of the record
	Agent  string // empty if it is not about one
	By     string // the operator, as far as the connection proves
	Reason string // as agents are told
}

func (f Freeze) write(w *events.ObjectWriter) {
	w.String("scope", f.Scope)
	w.Text("agent", f.Agent)
	w.Text("by", f.By)
	w.Text("reason", f.Reason)
}

// Labels are those that a session lost, or kept: the detail of [LabelsKind].
type Labels struct {
	Labels     []string
	ApprovalID string // of the approval request that a person allowed
	By         string // who, as far as the connection proves
	Agent      string // whose session it is, if that is proven
}

func (l Labels) write(w *events.ObjectWriter) {
	labels(w, l.Labels)
	w.Text("approval_id", l.ApprovalID)
	w.Text("decided_by", l.By)
	w.Text("emitter", l.Agent)
}

// Policy is a signed policy that was handed to the routers for workers: the detail of
// [PolicyKind]. It says what the policy claims: workers check its signature, routers do not.
type Policy struct {
	Version string // name, serial and digest
	Was     string // the version that it replaces; empty for none
	Use     string // "enforce", or "shadow": its answers count for nothing
	Commit  string // that its files are from; empty if that is not said
	By      string // who pushed it, as far as the connection proves
}

func (p Policy) write(w *events.ObjectWriter) {
	w.String("policy", p.Version)
	w.Text("was", p.Was)
	w.String("use", p.Use)
	w.Text("commit", p.Commit)
	w.Text("by", p.By)
}

// Identity is what a router read of somebody's credentials: the detail of [IdentityKind].
type Identity struct {
	Name     string          // role and name, such as "agent/coder"; empty of "loaded"
	Digest   string          // of identities.json, as "sha256:<hex>"
	Identity json.RawMessage // its entry there, as it is now; nil: none any more
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

// Note is what happened to the log itself: the detail of [LogKind].
type Note struct {
	Reason string
	Lost   int // records that were never written
}

func (n Note) write(w *events.ObjectWriter) {
	w.Text("reason", n.Reason)
	if n.Lost > 0 {
		w.Int("lost", int64(n.Lost))
	}
}
