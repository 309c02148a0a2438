package approver

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Pending returns the open approval requests, oldest first unless the filter says otherwise, up to
// the number that fits into a message. total is the number of all open requests.
func (a *Approver) Pending(ctx context.Context, f approval.Filter) (list []approval.Request, total int, err error) {
	var body any
	if f != (approval.Filter{}) {
		body = f
	}
	msg, err := a.request(ctx, a.conn.Transport.Of("approvals"), body, &list)
	if err != nil {
		return nil, 0, fmt.Errorf("list approvals: %w", err)
	}
	total, _ = strconv.Atoi(wire.Get(msg.Header, wire.HeaderTotal))
	return list, max(total, len(list)), nil
}

// Get returns an approval request with its decision. Decided requests are kept for 24 hours. The
// error for an unknown request is a *[hookrouter.Error] with [hookrouter.CodeNotFound].
func (a *Approver) Get(ctx context.Context, id string) (approval.Record, error) {
	return a.record(ctx, "approval", id, "show approval")
}

// Reveal returns an approval request with its secrets unmasked. The router first records who sees
// them. The error is a *[hookrouter.Error]: 403 unless the connection proves an identity with this
// right and the router keeps an audit log; 404 for an unknown request.
func (a *Approver) Reveal(ctx context.Context, id string) (approval.Record, error) {
	return a.record(ctx, "reveal", id, "reveal the secrets of approval")
}

// record requests a record from the subject of a verb. doing is the start of its error.
func (a *Approver) record(ctx context.Context, verb, id, doing string) (r approval.Record, err error) {
	if err := checkID(id); err != nil {
		return approval.Record{}, err
	}
	if _, err := a.request(ctx, a.conn.Transport.Of(verb, id), nil, &r); err != nil {
		return approval.Record{}, fmt.Errorf("%s %s: %w", doing, id, err)
	}
	return r, nil
}

// Answer decides an approval request and returns the accepted option as the request spells it. The
// error for a rejected answer is a *[hookrouter.Error]: 400 for an option that is not offered, 404
// for an unknown request, 409 if another answer won or [approval.Answer.DataSHA256] does not match,
// 410 for an expired request.
func (a *Approver) Answer(ctx context.Context, id string, answer approval.Answer) (option string, err error) {
	if err := checkID(id); err != nil {
		return "", err
	}
	var reply struct {
		Status string `json:"status"`
		Option string `json:"option"`
	}
	_, err = a.request(ctx, a.conn.Transport.Of("approve", id), answer, &reply)
	if err == nil && reply.Status != "accepted" {
		err = fmt.Errorf("the reply's status is %q, not accepted: look at the approval request again", reply.Status)
	}
	if err != nil {
		return "", fmt.Errorf("answer approval %s: %w", id, err)
	}
	return reply.Option, nil
}

// checkID returns an error unless id can be a token of a subject.
func checkID(id string) error {
	const tokens = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	if id == "" || len(id) > 64 || strings.Trim(id, tokens) != "" {
		return errors.New("the id of an approval has 1 to 64 letters, digits, '_' and '-': list the approvals to see them")
	}
	return nil
}
