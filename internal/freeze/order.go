package freeze

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hookrouter/hookrouter/internal/sessionkey"
)

// maxReason is the maximum length of a reason, in bytes.
const maxReason = 1 << 10

// Order is an operator's freeze order. An order without an agent and a session covers everything.
type Order struct {
	Agent   string    `json:"agent,omitempty"`
	Session string    `json:"session_id,omitempty"`
	Reason  string    `json:"reason"`
	By      string    `json:"by,omitempty"` // the operator, as far as the connection proves
	Time    time.Time `json:"time"`
}

// Request is an operator's request for an order.
type Request struct {
	All     bool   `json:"all"`
	Agent   string `json:"agent"`
	Session string `json:"session_id"`
	Reason  string `json:"reason"`
}

// ErrScope means that a request names no scope or several.
var ErrScope = errors.New(`name one thing: {"all":true}, {"agent":"…"} or {"session_id":"…"}`)

// Order returns the requested order of an operator. The error is [ErrScope]. The reason is not
// checked: see [Order.Check].
func (r Request) Order(by string) (Order, error) {
	if r.All == (r.Agent != "" || r.Session != "") || r.Agent != "" && r.Session != "" {
		return Order{}, ErrScope
	}
	return Order{Agent: r.Agent, Session: r.Session, Reason: r.Reason, By: by, Time: time.Now().UTC()}, nil
}

// Check returns an error if a new order is invalid.
func (o Order) Check() error {
	switch {
	case o.Agent != "" && o.Session != "":
		return errors.New("name either an agent or a session")
	case strings.TrimSpace(o.Reason) == "":
		return errors.New("give a reason: agents are told")
	case len(o.Reason) > maxReason:
		return fmt.Errorf("the reason has %d bytes: at most %d are allowed", len(o.Reason), maxReason)
	case !utf8.ValidString(o.Reason) || strings.ContainsFunc(o.Reason, unicode.IsControl):
		return errors.New("the reason must be one line of text without control characters")
	}
	return nil
}

// Scope returns "all", "agent" or "session".
func (o Order) Scope() string {
	switch {
	case o.Agent != "":
		return "agent"
	case o.Session != "":
		return "session"
	}
	return "all"
}

// Key returns the key of the order in a store. There is one order for each agent, for each session,
// and for all.
func (o Order) Key() string {
	if o.Scope() == "all" {
		return "all"
	}
	return o.Scope() + "." + sessionkey.Digest(o.Agent+o.Session)
}

// Covers reports whether the order covers an agent's event. agent is the authenticated name, or
// else the claimed one. The order may have the whole name, or the part after a '/' or a space, so
// that "coder" covers "nats AGENTS/coder" and "/agents/coder".
func (o Order) Covers(agent, session string) bool {
	switch o.Scope() {
	case "agent":
		before, found := strings.CutSuffix(agent, o.Agent)
		return found && (before == "" || strings.HasSuffix(before, "/") || strings.HasSuffix(before, " "))
	case "session":
		return o.Session == session
	}
	return true
}

// Denial returns the reason that the agent gets.
func (o Order) Denial() string { return "Frozen by an operator: " + o.Reason }
