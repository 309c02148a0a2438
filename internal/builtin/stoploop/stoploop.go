package stoploop

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Defaults of [Options], and their limits.
const (
	DefaultHint   = 3
	DefaultDeny   = 5
	DefaultPeriod = 3
	DefaultStops  = 3

	maxTimes  = 100
	maxPeriod = 8
)

// Options of the builtin. The zero Options are its defaults.
type Options struct {
	// Hint is the number of identical calls in a row at which the agent gets a hint; 0 means [DefaultHint].
	Hint int `json:"hint"`
	// Deny is at which time in a row the call is denied; 0 means [DefaultDeny].
	Deny int `json:"deny"`
	// Period is how many different calls may make up a loop: 1 finds one call that is
	// repeated, 2 also two in turn; 0 means [DefaultPeriod].
	Period int `json:"period"`
	// Stops is how often an agent may be kept from stopping before the user is notified; 0
	// means [DefaultStops], a negative number any number of times.
	Stops int `json:"stops"`
	// Ignore are tools that may repeat, by name or class, with *, besides those that
	// always may.
	Ignore builtin.Tools `json:"ignore"`
}

// Builtin is stop-loop.
var Builtin = builtin.Of("Stops an agent that makes the same calls again and again.",
	chain.Registration{
		Events: []string{events.PromptSubmit, events.ToolPre, events.PromptComplete, events.SessionEnd}, Priority: -10, OnFailure: chain.FailClosed,
	}, New)

// state is the state of a session since its last prompt.
type state struct {
	Calls []string `json:"calls,omitempty"` // digests, the newest last
	Stops int      `json:"stops,omitempty"`
}

// guard is a configured stop-loop hook.
type guard struct {
	Options
	states hookstate.Sessions[state]
	log    *slog.Logger
}

// New builds the hook.
func New(s kind.Section, o Options) (kind.Hook, error) {
	if err := cmp.Or(
		kind.Range("/hint", &o.Hint, DefaultHint, 2, maxTimes),
		kind.Range("/deny", &o.Deny, DefaultDeny, 2, maxTimes),
		kind.Range("/period", &o.Period, DefaultPeriod, 1, maxPeriod),
		kind.Range("/stops", &o.Stops, DefaultStops, -1, maxTimes),
	); err != nil {
		return kind.Hook{}, err
	}
	if err := o.Ignore.Check("/ignore"); err != nil {
		return kind.Hook{}, err
	}
	g := guard{o, builtin.StateOf[state](s, "stop-loop"), builtin.LogOf(s)}
	return kind.Hook{Handler: g.handle}, nil
}

func (g guard) handle(ctx context.Context, ev events.Event) (chain.Result, error) {
	switch {
	case ev.Session == "":
		return chain.Result{}, nil
	case ev.Name == events.ToolPre:
		return g.call(ctx, ev)
	case ev.Name == events.PromptComplete:
		return g.stop(ctx, ev)
	}
	builtin.Forget(ctx, g.states, g.log, ev) // the user sent a prompt, or the session ended
	return chain.Result{}, nil
}

func (g guard) call(ctx context.Context, ev events.Event) (chain.Result, error) {
	data, err := events.ParseObject(ev.Data)
	if err != nil {
		return chain.Result{}, err
	}
	tool, _ := data.Tool(ev.Name)
	if mayRepeat(tool) || g.Ignore.Match(tool) {
		return chain.Result{}, nil
	}
	digest := digestOf(tool, data)
	times, period := 0, 0
	if err := g.states.Update(ctx, builtin.Owner(ev), func(s *state) bool {
		s.Calls = append(s.Calls, digest)
		s.Calls = s.Calls[max(len(s.Calls)-g.Deny*g.Period, 0):]
		times, period = loop(s.Calls, g.Period)
		return true
	}); err != nil {
		return chain.Result{}, err
	}
	what := "the same call"
	if period > 1 {
		what = fmt.Sprintf("the same %d calls in turn", period)
	}
	switch {
	case times >= g.Deny:
		return chain.Denial(fmt.Sprintf("Loop: %s, %d times in a row. Do something else, or tell the user what you are stuck at.", what, times)), nil
	case times >= g.Hint:
		result := chain.Injection(fmt.Sprintf("You have made %s %d times in a row. Another time brings nothing new: look at what came back, and change your approach. "+
			"From the %dth time on it is denied.", what, times, g.Deny))
		result.Ephemeral, result.SuppressOutput = true, true
		return result, nil
	}
	return chain.Result{}, nil
}

// loop returns how many times in a row the last period calls were made. If several periods match,
// it returns the one with the most repetitions.
func loop(calls []string, maxPeriod int) (times, period int) {
	for p := 1; p <= maxPeriod; p++ {
		same := 0
		for i := len(calls) - 1; i >= p && calls[i] == calls[i-p]; i-- {
			same++
		}
		if n := same/p + 1; n > times && len(calls) >= p {
			times, period = n, p
		}
	}
	return times, period
}

// stop counts the attempts of the agent to stop. It does not fail if the state is unavailable: see
// the package documentation.
func (g guard) stop(ctx context.Context, ev events.Event) (chain.Result, error) {
	data, err := events.ParseObject(ev.Data)
	if err != nil || g.Stops < 0 {
		return chain.Result{}, nil //nolint:nilerr // a router sends objects only
	}
	active, known := data.Get("stop_hook_active")
	stops := 0
	if err := g.states.Update(ctx, builtin.Owner(ev), func(s *state) bool {
		if s.Stops++; known && active.Kind() == 'f' {
			s.Stops = 1 // the agent reports that no hook denied a stop
		}
		stops = s.Stops
		return true
	}); err != nil {
		g.log.Warn("stop_hook_active missing; cannot tell whether the agent is kept from stopping", "session_id", ev.Session, "error", err)
		return chain.Result{}, nil
	}
	if stops <= g.Stops {
		return chain.Result{}, nil
	}
	changed, err := events.ParseObject(data.With("stop_hook_active", []byte("true")))
	if err != nil {
		return chain.Result{}, err
	}
	result, err := chain.Replace(json.RawMessage(changed.With("loop_count", strconv.AppendInt(nil, int64(stops), 10))))
	result.UserMessage = fmt.Sprintf("The agent wanted to stop %d times since your last prompt: a hook may keep it from it.", stops)
	result.UserMessageLevel = chain.LevelWarning
	return result, err
}

// mayRepeat reports whether the tool is meant to be called repeatedly.
func mayRepeat(t events.Tool) bool {
	return t.Class == events.ClassTodo || t.Class == events.ClassShell && t.Known && !t.Partial && t.Command == ""
}

// digestOf returns a digest that is equal for equal calls.
func digestOf(t events.Tool, data events.Object) string {
	call := []string{string(t.Class), t.Command, t.Cwd}
	if t.Class != events.ClassShell || t.Partial || t.Command == "" {
		object, text := data.ToolInput()
		raw := jsontext.Value(object.Bytes()).Clone()
		_ = raw.Canonicalize() // input that is not JSON is compared by its bytes
		call = []string{t.Name, string(raw), text}
	}
	sum := sha256.Sum256([]byte(fmt.Sprintf("%q", call)))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}
