package console

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/hookrouter/hookrouter/internal/api/agentapi"
	"github.com/hookrouter/hookrouter/internal/api/web"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

const (
	// Who is the recorded name of the holder of the nameless token.
	Who = "console token"

	maxBody      = 64 << 10
	maxWait      = time.Minute
	maxList      = 500
	defaultList  = 100
	maxSessionID = 512
)

// approvals is the body of a list of approval requests.
type approvals struct {
	Approvals []approval.Request `json:"approvals"` // oldest first
	Total     int                `json:"total"`     // of the session, if one is named
	Cursor    string             `json:"cursor"`    // identifies this list
}

// list answers GET /v1/approvals: at once if the list differs from the cursor's, else when it
// changes or the wait is over.
func (c *Console) list(_ http.ResponseWriter, r *http.Request) (any, error) {
	q, err := parseQuery(r.URL.Query())
	if err != nil {
		return nil, err
	}
	body, err := c.pending(r.Context(), q.filter)
	if err == nil && q.wait > 0 && body.Cursor == q.after {
		return c.await(r.Context(), q)
	}
	return body, err
}

func (c *Console) pending(ctx context.Context, f approval.Filter) (approvals, error) {
	list, total, err := c.o.Approvals.Pending(ctx, f)
	if err != nil {
		return approvals{}, err
	}
	// The cursor is derived from the list, not from a count of changes, so that it is valid at
	// every replica and after a restart.
	sum := sha256.New()
	sum.Write([]byte(strconv.Itoa(total)))
	for _, question := range list {
		sum.Write([]byte{0})
		sum.Write([]byte(question.ID))
		sum.Write([]byte(strconv.Itoa(len(question.Reviews))))
	}
	if list == nil {
		list = []approval.Request{}
	}
	return approvals{list, total, base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:12])}, nil
}

// await waits until the list differs from the cursor's, or the wait is over.
func (c *Console) await(ctx context.Context, q query) (approvals, error) {
	select {
	case c.polls <- struct{}{}:
		defer func() { <-c.polls }()
	default:
		return approvals{}, wire.Errorf(wire.Unavailable, "too many requests wait already: try again later, or without wait")
	}
	leave, ok := c.enter()
	if !ok {
		return approvals{}, errStopping
	}
	defer leave()
	over := time.NewTimer(q.wait)
	defer over.Stop()
	for {
		changed := c.feed.changes() // before the list is read, so that no change is missed
		body, err := c.pending(ctx, q.filter)
		if err != nil || body.Cursor != q.after {
			return body, err
		}
		select {
		case <-changed:
		case <-over.C:
			return body, nil
		case <-ctx.Done():
			return body, ctx.Err()
		case <-c.ctx.Done():
			return body, errStopping
		}
	}
}

var errStopping = wire.Errorf(wire.Unavailable, "this router is stopping: try again, another one may answer")

type query struct {
	filter approval.Filter
	wait   time.Duration
	after  string
}

func parseQuery(values url.Values) (query, error) {
	q := query{filter: approval.Filter{Limit: defaultList}}
	for name, all := range values {
		value := all[0]
		if len(all) > 1 {
			return q, wire.Errorf(wire.Malformed, "%s is given twice", web.Clip(name))
		}
		switch name {
		case "session_id":
			if len(value) > maxSessionID {
				return q, wire.Errorf(wire.Malformed, "session_id has %d bytes, at most %d are allowed", len(value), maxSessionID)
			}
			q.filter.Session = value
		case "limit":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 || n > maxList {
				return q, wire.Errorf(wire.Malformed, "limit is %q: it must be a number from 1 to %d", web.Clip(value), maxList)
			}
			q.filter.Limit = n
		case "wait":
			d, err := time.ParseDuration(value)
			if err != nil || d < 0 {
				return q, wire.Errorf(wire.Malformed, "wait is %q: it must be a duration such as 30s", web.Clip(value))
			}
			q.wait = min(d, maxWait)
		case "after":
			q.after = value
		default:
			return q, wire.Errorf(wire.Malformed, "there is no parameter %q: use session_id, limit, wait or after", web.Clip(name))
		}
	}
	return q, nil
}

// idPattern matches the ids of approval requests.
var idPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

func approvalID(r *http.Request) (string, error) {
	id := r.PathValue("id")
	if !idPattern.MatchString(id) {
		return "", wire.Errorf(wire.NotFound, "there is no approval %q", web.Clip(id))
	}
	return id, nil
}

// approval reads the approval request that the path names.
func (c *Console) approval(r *http.Request) (approval.Record, error) {
	id, err := approvalID(r)
	if err != nil {
		return approval.Record{}, err
	}
	return c.o.Approvals.Get(r.Context(), id)
}

// show answers GET /v1/approvals/{id}.
func (c *Console) show(_ http.ResponseWriter, r *http.Request) (any, error) {
	record, err := c.approval(r)
	if err != nil {
		return nil, err
	}
	record.Scopes = record.ScopesFor(who(r))
	return record.Append(nil), nil
}

// answer answers POST /v1/approvals/{id}.
func (c *Console) answer(w http.ResponseWriter, r *http.Request) (any, error) {
	id, err := approvalID(r)
	if err != nil {
		return nil, err
	}
	answer, err := readAnswer(w, r)
	if err != nil {
		return nil, err
	}
	decision, err := c.o.Approvals.Answer(r.Context(), id, answer, who(r))
	if err != nil {
		return nil, err
	}
	c.o.Log.Info("approval request answered", "approval_id", id, "option", decision.Option, "granted", decision.Granted, "open", !decision.Ends(),
		"by", who(r), "address", r.RemoteAddr)
	return agentapi.Answered(r.Context(), c.o.Approvals, id, decision), nil
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, wire.Errorf(wire.TooLarge, "the body has more than %d bytes", maxBody)
	}
	if err != nil {
		return nil, wire.Errorf(wire.Malformed, "the body could not be read: %v", err)
	}
	return body, nil
}

// decode parses a JSON object strictly.
func decode[T any](body []byte, into *T) error {
	var given *T
	if err := jsonv2.Unmarshal(body, &given, jsonv2.RejectUnknownMembers(true)); err != nil {
		return err
	}
	if given == nil {
		return errors.New("it is null")
	}
	*into = *given
	return nil
}

func readAnswer(w http.ResponseWriter, r *http.Request) (answer approval.Answer, err error) {
	body, err := readBody(w, r)
	if err != nil {
		return answer, err
	}
	err = decode(body, &answer)
	if wrong, ok := errors.AsType[*jsonv2.SemanticError](err); ok && wrong.JSONPointer == "/expires" {
		return answer, wire.Errorf(wire.Malformed, "expires must be a time such as 2026-01-02T10:00:00Z")
	}
	if err != nil {
		return answer, wire.Errorf(wire.Malformed, `the body is not an answer: it must be a JSON object such as {"option":"Allow once"} (option, by, note, data_sha256, free_text, error, pass, scope, expires), each name once and with its type`)
	}
	return answer, nil
}

// registry answers GET /v1/registry.
func (c *Console) registry(_ http.ResponseWriter, r *http.Request) (any, error) {
	if c.o.Registry == nil {
		return nil, wire.Errorf(wire.Unavailable, "this console has no registry")
	}
	return c.o.Registry(r.Context())
}

// unknown answers all other paths.
func (c *Console) unknown(_ http.ResponseWriter, r *http.Request) (any, error) {
	return nil, wire.Errorf(wire.NotFound, "there is no %s %s", r.Method, web.Clip(r.URL.Path))
}
