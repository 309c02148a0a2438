package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
)

// cleanupLimit bounds what a case does after its last step, its late replies
// apart.
const cleanupLimit = 10 * time.Second

// maxRetries is how often an event is sent again while its answer is pending.
const maxRetries = 10

// serial numbers the cases of this process.
var serial atomic.Int64

// run is one case being replayed.
type run struct {
	target   Target
	c        Case
	bench    *bench
	context  *contextManager
	sessions []string
	defaults json.RawMessage // nil where none are set
}

// Run replays one case. The error has one line for each expectation that was not
// met, with its step and key and what was wanted and got.
func Run(ctx context.Context, target Target, c Case) (err error) {
	keeper, err := newContextManager(c)
	if err != nil {
		return fmt.Errorf("read context_messages: %w", err)
	}
	tag := fmt.Sprintf("c%d", serial.Add(1))
	r := &run{
		target:   target,
		c:        c,
		bench:    newBench(ctx, target, tag),
		context:  keeper,
		sessions: c.sessions(tag + "-" + nuid.Next()),
		defaults: c.DefaultFields,
	}
	defer func() {
		cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupLimit)
		defer cancel()
		err = errors.Join(err, r.bench.close(cleanup))
	}()
	if err := r.prepare(ctx); err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	var errs []error
	for i, step := range c.Steps {
		unmet, err := r.step(ctx, step)
		for _, err := range append(unmet, err) {
			if err != nil {
				errs = append(errs, fmt.Errorf("step %d, %s: %w", i+1, step, err))
			}
		}
		if err != nil {
			break
		}
	}
	return errors.Join(errs...)
}

// String is what the step does, for a person.
func (s Step) String() string {
	return strings.TrimSpace(s.Op + " " + s.Event + s.Channel)
}

// prepare makes the sessions fresh and registers what the case starts with.
func (r *run) prepare(ctx context.Context) error {
	if r.c.Executes() {
		if err := r.freshSessions(ctx); err != nil {
			return err
		}
		if r.c.Config.ApprovalSystem == Present {
			if err := r.bench.listen(&approver{
				target: r.target, sessions: r.sessions, answers: r.c.ApprovalAnswers, seen: map[string]bool{},
			}); err != nil {
				return err
			}
		}
	}
	for _, h := range r.c.Handlers {
		if err := r.bench.registerHook(ctx, h); err != nil {
			return err
		}
	}
	for _, c := range r.c.Contributors {
		if err := r.bench.registerContributor(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// freshSessions ends the case's sessions and gives the new ones the limits of the
// case, which a session:start brings. Hooks that listen to it do not count it.
func (r *run) freshSessions(ctx context.Context) error {
	if err := r.begin(ctx); err != nil {
		return err
	}
	if err := r.tellSessions(ctx, "end"); err != nil {
		return err
	}
	limits := map[string]any{}
	if limit := r.c.Config.InjectionSizeLimit; limit > 0 {
		limits["injection_size_limit"] = limit
	}
	if limit := r.c.Config.InjectionBudgetPerTurn; limit > 0 {
		limits["injection_budget_per_turn"] = limit
	}
	if len(limits) == 0 {
		return nil
	}
	const event = "session:start"
	body := encode(map[string]any{"mount_plan": map[string]any{"session": limits}})
	if err := r.bench.hush(ctx, true); err != nil {
		return err
	}
	for _, session := range r.sessions {
		if _, err := r.execute(ctx, event, eventHeader(event, session), body); err != nil {
			return err
		}
	}
	return r.bench.hush(ctx, false)
}

// tellSessions announces a turn or an end to the case's sessions.
func (r *run) tellSessions(ctx context.Context, what string) error {
	for _, session := range r.sessions {
		body := encode(map[string]any{"session_id": session})
		if _, err := r.target.request(ctx, r.target.subject("session", what), nil, body); err != nil {
			return err
		}
	}
	return nil
}

// step does one step and returns what it did not meet; the error means that the
// case cannot go on.
func (r *run) step(ctx context.Context, s Step) ([]error, error) {
	if err := r.bench.renew(ctx); err != nil {
		return nil, err
	}
	o, err := r.do(ctx, s)
	if err != nil {
		return nil, err
	}
	if o.record, err = r.bench.settle(ctx); err != nil {
		return nil, err
	}
	return append(o.meets(s.Expect), o.problems...), nil
}

// execute runs an event and joins its approval request again as long as that is pending.
func (r *run) execute(ctx context.Context, event string, header nats.Header, body []byte) (map[string]any, error) {
	var verdict map[string]any
	for range maxRetries {
		var err error
		verdict, err = requestJSON[map[string]any](ctx, r.target, r.target.subject(OpExecute, event), header, body)
		if err != nil || verdict["action"] != "pending" {
			return verdict, err
		}
		header.Set(headerRetry, "1")
	}
	return verdict, nil
}
