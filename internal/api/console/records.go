package console

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/hookrouter/hookrouter/internal/api/web"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// Records reads the audit log, outside the path of events. It masks secrets in everything it
// returns. Its errors have codes.
type Records interface {
	// Decisions returns the decided approval requests, newest first, as JSON.
	Decisions(ctx context.Context, q Query) ([]byte, error)
	// Search returns what agents were told, or what a hook did, newest first, as JSON.
	Search(ctx context.Context, q Query) ([]byte, error)
	// State returns how far the log is signed and witnessed, as JSON.
	State(ctx context.Context) ([]byte, error)
	// Recent returns the results of the last minutes, oldest first, bounded in number.
	Recent(ctx context.Context) ([]Event, error)
}

// Query selects records. They must match every field that is not zero.
type Query struct {
	Session, Event, Hook string
	Action               string // of a chain or a hook; of a decision "allow" or "deny"
	By                   string // who decided: a substring, ignoring case
	Since, Until         time.Time
	Limit                int // at least 1
}

const (
	maxWord     = 512 // bytes of a parameter
	maxRecords  = 200
	someRecords = 50
	historySpan = 7 * 24 * time.Hour // if no time is given
	searchSpan  = 24 * time.Hour
)

var errNoRecords = wire.Errorf(wire.Unavailable, "this console has no audit log")

// history answers GET /v1/history. Whoever may answer may see past answers.
func (c *Console) history(_ http.ResponseWriter, r *http.Request) (any, error) {
	if action := r.URL.Query().Get("action"); action != "" && action != "allow" && action != "deny" {
		return nil, wire.Errorf(wire.Malformed, "action is %q: it must be allow or deny", web.Clip(action))
	}
	q, err := c.readQuery(r, historySpan)
	if err != nil {
		return nil, err
	}
	return c.o.Records.Decisions(r.Context(), q)
}

// search answers GET /v1/audit.
func (c *Console) search(_ http.ResponseWriter, r *http.Request) (any, error) {
	if err := c.checkAudit(r); err != nil {
		return nil, err
	}
	q, err := c.readQuery(r, searchSpan)
	if err != nil {
		return nil, err
	}
	return c.o.Records.Search(r.Context(), q)
}

// logState answers GET /v1/audit/state.
func (c *Console) logState(_ http.ResponseWriter, r *http.Request) (any, error) {
	if err := c.checkAudit(r); err != nil {
		return nil, err
	}
	if c.o.Records == nil {
		return nil, errNoRecords
	}
	return c.o.Records.State(r.Context())
}

// checkAudit refuses people who may only answer approval requests: the log shows everything that
// agents did.
func (c *Console) checkAudit(r *http.Request) error {
	if c.may(c.o.MayAudit, who(r)) {
		return nil
	}
	return wire.Errorf(wire.Forbidden, "%s may not search the audit log: the operator grants that right with --console-audit", who(r))
}

// readQuery reads the parameters of a request that searches the audit log.
func (c *Console) readQuery(r *http.Request, span time.Duration) (Query, error) {
	q, err := parseRecordsQuery(r.URL.Query(), span)
	if err == nil && c.o.Records == nil {
		err = errNoRecords
	}
	return q, err
}

func parseRecordsQuery(values url.Values, span time.Duration) (q Query, err error) {
	q = Query{Limit: someRecords, Since: time.Now().Add(-span)}
	words := map[string]*string{"session_id": &q.Session, "event": &q.Event, "hook": &q.Hook, "action": &q.Action, "by": &q.By}
	times := map[string]*time.Time{"since": &q.Since, "until": &q.Until}
	for name, all := range values {
		value := all[0]
		if len(all) > 1 || len(value) > maxWord {
			return q, wire.Errorf(wire.Malformed, "%s is given twice, or is longer than %d bytes", web.Clip(name), maxWord)
		}
		if word := words[name]; word != nil {
			*word = value
			continue
		}
		if at := times[name]; at != nil {
			if *at, err = time.Parse(time.RFC3339, value); err != nil {
				return q, wire.Errorf(wire.Malformed, "%s is %q: it must be a time such as 2026-01-02T10:00:00Z", name, web.Clip(value))
			}
			continue
		}
		if name != "limit" {
			return q, wire.Errorf(wire.Malformed, "there is no parameter %q: use session_id, event, hook, action, by, since, until or limit", web.Clip(name))
		}
		if q.Limit, err = strconv.Atoi(value); err != nil || q.Limit < 1 || q.Limit > maxRecords {
			return q, wire.Errorf(wire.Malformed, "limit is %q: it must be a number from 1 to %d", web.Clip(value), maxRecords)
		}
	}
	return q, nil
}

// recent answers GET /v1/recent: the live events that a newly opened page missed.
func (c *Console) recent(_ http.ResponseWriter, r *http.Request) (any, error) {
	if c.o.Records == nil {
		return nil, errNoRecords
	}
	list, err := c.o.Records.Recent(r.Context())
	if err != nil {
		return nil, err
	}
	body := struct {
		Events []json.RawMessage `json:"events"`
	}{[]json.RawMessage{}}
	for _, ev := range list {
		if text, err := ev.message(); err == nil { // the live view drops events that are not JSON, too
			body.Events = append(body.Events, text)
		}
	}
	return body, nil
}
