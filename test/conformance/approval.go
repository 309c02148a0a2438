package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// eventApprovalRequired is published when an approval request is open.
const eventApprovalRequired = "approval:required"

// What an entry of approval_answers may be besides an option's text.
const (
	answerNever       = "timeout"
	answerErrorPrefix = "error:"
)

// approver is the scripted approval system. It hears of an approval request by
// approval:required and answers as a client of the approval subjects.
type approver struct {
	target   Target
	sessions []string        // approval requests of other sessions are none of its business
	answers  []string        // not yet given; only take touches it
	seen     map[string]bool // ids of the approval requests so far; only take touches it
}

// question is one approval request and what will be done about it.
type question struct {
	shown  map[string]any // as the format wants it: prompt, options, timeout, default, hook
	id     string
	digest any // data_sha256 as offered
	offers []string
	answer string
}

// take reads an approval:required. It returns nil for an approval request that was seen
// before or is of another session.
func (a *approver) take(entry []byte) (*question, error) {
	v, err := decode(entry)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", eventApprovalRequired, err)
	}
	fields, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("read %s: want an object, got %s", eventApprovalRequired, show(v))
	}
	id, _ := fields["id"].(string)
	session, _ := fields["session_id"].(string)
	if a.seen[id] || !slices.Contains(a.sessions, session) {
		return nil, nil
	}
	a.seen[id] = true
	timeout, err := between(fields["created"], fields["expires"])
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", eventApprovalRequired, err)
	}
	q := &question{
		shown: map[string]any{
			"prompt": fields["prompt"], "options": fields["options"], "default": fields["default"],
			"hook": fields["hook"], "timeout": seconds(timeout),
		},
		id:     id,
		digest: fields["data_sha256"],
		offers: texts(fields["options"]),
		answer: answerErrorPrefix + "the case has no more answers",
	}
	if len(a.answers) > 0 {
		q.answer, a.answers = a.answers[0], a.answers[1:]
	}
	return q, nil
}

// answer does what the case says, after checking that the approval request is in the list
// of what is pending: approval:required comes once it is there.
func (a *approver) answer(ctx context.Context, q *question) error {
	if q.answer == answerNever {
		return nil
	}
	pending, err := requestJSON[[]any](ctx, a.target, a.target.subject("approvals", ""), nil, nil)
	if err != nil {
		return fmt.Errorf("answer approval: %w", err)
	}
	if !slices.ContainsFunc(pending, func(v any) bool {
		entry, _ := v.(map[string]any)
		return entry["id"] == q.id
	}) {
		return fmt.Errorf("answer approval: %s was announced but is not in the list: %s", q.id, show(pending))
	}

	body := map[string]any{"by": "conformance", "option": q.answer, "data_sha256": q.digest}
	if cause, ok := strings.CutPrefix(q.answer, answerErrorPrefix); ok {
		body = map[string]any{"by": "conformance", "error": cause}
	} else if !slices.ContainsFunc(q.offers, func(o string) bool { return strings.EqualFold(o, q.answer) }) {
		body["free_text"] = true
	}
	reply, err := requestJSON[map[string]any](ctx, a.target, a.target.subject("approve", q.id), nil, encode(body))
	if err != nil {
		return fmt.Errorf("answer approval: %w", err)
	}
	if reply["status"] != "accepted" {
		return fmt.Errorf("answer approval: %w", unmet("status", "accepted", reply["status"]))
	}
	return nil
}

// between is the time from one RFC 3339 timestamp to another.
func between(from, to any) (time.Duration, error) {
	first, errFirst := timestamp(from)
	last, errLast := timestamp(to)
	if err := errors.Join(errFirst, errLast); err != nil {
		return 0, err
	}
	return last.Sub(first), nil
}

func timestamp(v any) (time.Time, error) {
	text, ok := v.(string)
	if !ok {
		return time.Time{}, fmt.Errorf("want a timestamp, got %s", show(v))
	}
	return time.Parse(time.RFC3339, text)
}

// seconds is d as a JSON number.
func seconds(d time.Duration) json.Number {
	return json.Number(strconv.FormatFloat(d.Seconds(), 'f', -1, 64))
}

// milliseconds reads a JSON number of milliseconds above zero.
func milliseconds(v any) (time.Duration, error) {
	number, _ := v.(json.Number)
	ms, err := number.Int64()
	if err != nil || ms <= 0 {
		return 0, fmt.Errorf("want milliseconds above zero, got %s", show(v))
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// texts are the strings of a JSON list.
func texts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, one := range list {
		if text, ok := one.(string); ok {
			out = append(out, text)
		}
	}
	return out
}
