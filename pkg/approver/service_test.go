package approver_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/natsx/service"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// fakeService answers on the subjects of approvals and sessions as a router does.
type fakeService struct {
	bus     *natsx.Conn
	service *service.Service

	mu       sync.Mutex // guards what follows
	records  map[string]*approval.Record
	order    []string
	fit      int               // approval requests that a list may hold; 0 means all
	failures []error           // what the next requests get, before they are looked at
	bodies   map[string]string // of the latest request, by subject
}

// openService starts a fakeService. The caller closes the bus.
func openService(b *natsx.Conn) (*fakeService, error) {
	d := &fakeService{bus: b, records: map[string]*approval.Record{}, bodies: map[string]string{}}
	var err error
	if d.service, err = service.Start(b, "approvals", "1.0.0", nil); err != nil {
		return nil, err
	}
	for subject, handle := range map[string]func(*service.Request) ([]byte, wire.Header, error){
		b.Of("approvals"): d.list, b.Of("approval", "*"): d.show, b.Of("approve", "*"): d.approve,
		b.Of("session", "show"): d.session, b.Of("session", "revoke"): d.revoke,
	} {
		_, err := d.service.Add(service.Endpoint{Name: "approvals", Subject: subject, Handle: func(_ context.Context, r *service.Request) error {
			body, header, err := d.take(r, handle)
			if err != nil {
				return err
			}
			return r.Reply(header, body)
		}})
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (d *fakeService) close() { _ = d.service.Stop(context.Background()) }

func (d *fakeService) take(r *service.Request, handle func(*service.Request) ([]byte, wire.Header, error)) ([]byte, wire.Header, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.bodies[r.Subject] = string(r.Data)
	if len(d.failures) > 0 {
		err := d.failures[0]
		d.failures = d.failures[1:]
		return nil, nil, err
	}
	return handle(r)
}

// body is the latest request's on a subject.
func (d *fakeService) body(subject string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.bodies[subject]
}

// fail lets the next requests fail.
func (d *fakeService) fail(errs ...error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failures = errs
}

// created is when every approval request was made.
var created = time.Date(2126, 1, 2, 3, 4, 5, 0, time.UTC)

// ask opens an approval request; with publish it is told of.
func (d *fakeService) ask(id string, publish bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := &approval.Record{
		Request: approval.Request{
			ID: id, Session: "s1", Event: "tool:pre", Hook: "deploy-guard", Prompt: "Deploy to production?",
			Options: []string{"Allow once", "Allow always", "Deny"}, Default: approval.DefaultDeny,
			Created: approval.At(created.Add(time.Duration(len(d.order)) * time.Second)), Expires: approval.At(created.Add(time.Hour)),
			DataSHA256: approval.Digest([]byte(`{"n":9007199254740993}`)),
		},
		Agent: "/agent", ToolName: "Deploy", Data: json.RawMessage(`{"n":9007199254740993}`),
	}
	d.records[id], d.order = r, append(d.order, id)
	if publish {
		_ = d.bus.Publish(d.bus.Of("event.approval.required"), nil, r.Request.Append(nil))
	}
}

// decide ends an approval request behind everybody's back, and tells of it with publish.
func (d *fakeService) decide(id string, decision approval.Decision, publish bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.end(d.records[id], decision, publish)
}

func (d *fakeService) end(r *approval.Record, decision approval.Decision, publish bool) {
	r.Decision = &decision
	kind := "event.approval.denied"
	if decision.Granted {
		kind = "event.approval.granted"
	}
	if publish {
		_ = d.bus.Publish(d.bus.Of(kind), nil, r.Append(nil))
	}
}

func (d *fakeService) list(r *service.Request) ([]byte, wire.Header, error) {
	var f approval.Filter
	if len(r.Data) > 0 {
		if err := json.Unmarshal(r.Data, &f); err != nil {
			return nil, nil, wire.Errorf(wire.Malformed, "%v", err)
		}
	}
	list := []approval.Request{}
	for _, id := range d.order {
		if q := d.records[id]; q.Decision == nil && (f.Session == "" || f.Session == q.Session) {
			list = append(list, q.Request)
		}
	}
	total := len(list)
	if d.fit > 0 && total > d.fit {
		list = slices.Clip(list[:d.fit])
	}
	body, err := json.Marshal(list)
	return body, wire.Header{"Hook-Total": {strconv.Itoa(total)}}, err
}

func (d *fakeService) find(subject string) (*approval.Record, error) {
	id := subject[strings.LastIndex(subject, ".")+1:]
	r, ok := d.records[id]
	if !ok {
		return nil, wire.Errorf(wire.NotFound, "there is no approval %s", id)
	}
	return r, nil
}

func (d *fakeService) show(r *service.Request) ([]byte, wire.Header, error) {
	record, err := d.find(r.Subject)
	if err != nil {
		return nil, nil, err
	}
	return record.Append(nil), nil, nil
}

func (d *fakeService) approve(r *service.Request) ([]byte, wire.Header, error) {
	record, err := d.find(r.Subject)
	if err != nil {
		return nil, nil, err
	}
	var answer approval.Answer
	if err := json.Unmarshal(r.Data, &answer); err != nil {
		return nil, nil, wire.Errorf(wire.Malformed, "%v", err)
	}
	if record.Decision != nil {
		return nil, nil, wire.Errorf(wire.Conflict, "it was decided already: %q by %s", record.Option, record.DecidedBy)
	}
	decision, err := approval.Decide(record.Request, answer, "ada", created)
	switch {
	case errors.Is(err, approval.ErrOtherData):
		return nil, nil, wire.Errorf(wire.Conflict, "%v", err)
	case err != nil:
		return nil, nil, wire.Errorf(wire.Malformed, "%v", err)
	}
	d.end(record, decision, true)
	return []byte(`{"status":"accepted","option":` + strconv.Quote(decision.Option) + `}`), nil, nil
}

func (d *fakeService) session(r *service.Request) ([]byte, wire.Header, error) {
	if string(r.Data) != `{"session_id":"s1"}` {
		return nil, nil, wire.Errorf(wire.NotFound, "nothing is known of this session")
	}
	return []byte(`{"session_id":"s1","turn":2,"injected_tokens":250,"budget":10000,"size_limit":10240,
		"injections":[{"event":"tool:post","hook":"lint","bytes":1000,"tokens":250,"time":"2126-01-02T03:04:05.000Z"}],
		"grants":[{"hook":"deploy-guard","prompt":"Deploy?","by":"ada","granted":"2126-01-02T03:04:05.000Z","approval_id":"q1"}],"new":1}`), nil, nil
}

func (d *fakeService) revoke(*service.Request) ([]byte, wire.Header, error) {
	return []byte(`{"revoked":1}`), nil, nil
}
