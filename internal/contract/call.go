package contract

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nuid"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/shorten"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// maxReply is the router's default limit of a hook's reply, in bytes.
const maxReply = 512 << 10

// contributionEvent is the event name with which contributors are called.
const contributionEvent = "contribution:collect"

// observerPatience is the timeout for observers, which need not answer.
const observerPatience = 100 * time.Millisecond

func cutWildcard(pattern string) (domain string, ok bool) { return strings.CutSuffix(pattern, ":*") }

// check calls the hook with one event and records the result. The error is errGivenUp, errNobody,
// or the reason why the check could not be made.
func (v *validation) check(ctx context.Context, event string, given variant) error {
	kept, err := v.kept(ctx, event, given.data)
	if err != nil {
		return err
	}
	reply, took, err := v.call(ctx, event, given.data)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, natsx.ErrNoResponders) {
		return errNobody
	}
	c := Check{Name: given.name, Event: event, Took: took}
	if err == nil {
		c.Detail, err = judge(reply)
	}
	c.OK = err == nil
	if err != nil {
		c.Detail, c.OK = v.excuse(err, given, kept)
	}
	v.note(c)
	return v.count(err)
}

// excuse describes an error, and reports whether the hook may return it.
func (v *validation) excuse(err error, given variant, kept string) (detail string, ok bool) {
	refusal, refused := errors.AsType[*wire.Error](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded) && v.hook.Observes():
		return "no answer, and an observer need not give one", true
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer within its time-out of %s", v.hook.Timeout()), false
	case !refused:
		return err.Error(), false
	case panicked(refusal):
		return "it panicked: see the worker's log", false
	case refusal.Code == wire.Deadline:
		return "it says that its time was over: " + clip(refusal.Error()), false
	case kept != "":
		return fmt.Sprintf("an error, for data that it is never given (%s): %s", kept, clip(refusal.Error())), true
	case given.breaks:
		return fmt.Sprintf("an error, for data that breaks the schema: %s", clip(refusal.Error())), true
	default:
		return "an error, for data that keeps the schema: " + clip(refusal.Error()), false
	}
}

// panicked reports whether a worker of this project reports a panic of its handler.
func panicked(refusal *wire.Error) bool {
	return refusal.Code == wire.Internal && strings.HasSuffix(refusal.Text, "failed: a defect, see the log")
}

// count counts consecutive timeouts. It returns errGivenUp after too many.
func (v *validation) count(err error) error {
	if !errors.Is(err, context.DeadlineExceeded) || v.hook.Observes() {
		v.timeouts = 0
		return nil
	}
	if v.timeouts++; v.timeouts >= giveUpAfter {
		return errGivenUp
	}
	return nil
}

// kept returns why the hook's match filters out data; empty if it does not. It asks the router,
// since this package does not evaluate expressions.
func (v *validation) kept(ctx context.Context, event string, data []byte) (string, error) {
	if v.hook.Match == "" {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, registryTimeout)
	defer cancel()
	header := wire.Header{}
	v.event(event, data).SetHeader(header)
	msg, err := v.bus.Request(ctx, v.bus.Event("explain", event), header, data)
	if err != nil {
		return "", fmt.Errorf("ask the router whether the match of the hook holds: %w", err)
	}
	var answer struct {
		Hooks []struct {
			ID         string `json:"id"`
			Matches    bool   `json:"matches"`
			MatchError string `json:"match_error"`
		} `json:"hooks"`
	}
	if err := json.Unmarshal(msg.Data, &answer); err != nil {
		return "", fmt.Errorf("ask the router whether the match of the hook holds: read the answer: %w", err)
	}
	for _, h := range answer.Hooks {
		switch {
		case h.ID != v.ID:
		case h.MatchError != "":
			return "its match fails: " + clip(h.MatchError), nil
		case !h.Matches:
			return "its match is false", nil
		}
	}
	return "", nil
}

func (v *validation) event(name string, data []byte) events.Event {
	return events.Event{ID: events.NewID(), Source: "/contract-check", Name: name, Session: v.Session, Time: events.Now(), Data: data}
}

// call calls the hook as the router does, within the hook's timeout.
func (v *validation) call(ctx context.Context, event string, data []byte) (reply []byte, took time.Duration, err error) {
	timeout := v.hook.Timeout()
	if v.hook.Observes() {
		timeout = min(timeout, observerPatience)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	header := wire.Header{
		wire.HeaderChainID: {events.NewID()},
		wire.HeaderCallID:  {nuid.Next()},
		wire.HeaderMode:    {string(chain.Shadow)},
		wire.HeaderTimeout: {strconv.FormatInt(max(v.hook.Timeout().Milliseconds(), 1), 10)},
	}
	v.event(event, data).SetHeader(header)
	start := time.Now()
	msg, err := v.bus.Request(ctx, v.bus.Call(v.ID), header, data)
	took = time.Since(start)
	if err != nil {
		return nil, took, err
	}
	return msg.Data, took, nil
}

// judge parses a reply as the router does, and describes it.
func judge(reply []byte) (string, error) {
	if len(reply) > maxReply {
		return "", fmt.Errorf("%w: it has %d bytes, at most %d are allowed", chain.ErrInvalidResult, len(reply), maxReply)
	}
	r, err := chain.ParseResult(reply)
	if err != nil {
		return "", err
	}
	r.Action = cmp.Or(r.Action, chain.Continue)
	if r.Data != nil {
		data, err := events.ParseObject(r.Data)
		if err != nil {
			return "", fmt.Errorf("%w: %w", chain.ErrInvalidResult, err)
		}
		if got, ok := data.Get(bigIntField); ok && string(got) != bigInt {
			return "", fmt.Errorf("it made %s of the integer %s, which it got in %s: keep numbers as they came", clip(string(got)), bigInt, bigIntField)
		}
	}
	if r.Reason != "" {
		return string(r.Action) + ": " + clip(r.Reason), nil
	}
	return string(r.Action), nil
}

// contribution checks a contributor, which may answer with any JSON.
func (v *validation) contribution(ctx context.Context, channel string) error {
	body, err := json.Marshal(map[string]string{"channel": channel})
	if err != nil {
		return fmt.Errorf("write the channel: %w", err)
	}
	reply, took, err := v.call(ctx, contributionEvent, body)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, natsx.ErrNoResponders) {
		return errNobody
	}
	c := Check{Name: "contributes JSON, or nothing", Event: channel, Took: took, OK: true, Detail: "a value"}
	switch {
	case err != nil:
		c.Detail, c.OK = v.excuse(err, variant{}, "")
	case len(reply) == 0 || string(reply) == "null":
		c.Detail = "nothing"
	case !json.Valid(reply):
		c.Detail, c.OK = "what it answered is not JSON: "+clip(string(reply)), false
	case len(reply) > maxReply:
		c.Detail, c.OK = fmt.Sprintf("it has %d bytes, at most %d are allowed", len(reply), maxReply), false
	}
	v.note(c)
	return v.count(err)
}

// clip shortens the hook's text to one line.
func clip(s string) string {
	return shorten.Bytes(strings.Join(strings.Fields(s), " "), 160, "...")
}
