package trace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/telemetry/traces"
)

// Cmd is `hookctl trace`.
type Cmd struct {
	Chain   string `arg:"" optional:"" help:"Id of a chain, an event, an approval request or a session; from Jaeger a chain only."`
	TraceID string `name:"trace-id" placeholder:"ID" help:"All of this trace instead, which may be a whole turn; from Jaeger only."`
	Jaeger  string `from:"HOOK_ROUTER_JAEGER" placeholder:"URL" help:"Address of Jaeger's API, such as http://127.0.0.1:16686; empty: use the audit log."`
	Service string `default:"hook-router" placeholder:"NAME" help:"Service name of the routers in Jaeger: their OTEL_SERVICE_NAME."`
}

// Run shows the tree of a chain.
func (c *Cmd) Run(ctx context.Context, e *cli.Env) error {
	switch {
	case (c.Chain == "") == (c.TraceID == ""):
		return errors.New("trace which chain: give its id, or --trace-id; `hookctl audit query --kind chain.result` finds chains")
	case c.TraceID != "" && c.Jaeger == "":
		return errors.New("--trace-id needs Jaeger, which alone knows traces by their ids: say where it is with --jaeger")
	}
	t, from, err := c.read(ctx, e)
	if err != nil {
		return err
	}
	doc := newTraced(t, c.Chain, from)
	if e.Out.Document(doc) {
		return nil
	}
	waterfall(e.Out, t, doc)
	return nil
}

// read reads the trace. from names its source.
func (c *Cmd) read(ctx context.Context, e *cli.Env) (t *traces.Trace, from string, err error) {
	if c.Jaeger == "" {
		t, err = c.readLog(ctx, e)
		return t, "the audit log", err
	}
	j, err := traces.NewJaeger(c.Jaeger)
	if err != nil {
		return nil, "", err
	}
	t, err = c.readJaeger(ctx, j)
	return t, "Jaeger at " + j.String(), err
}

// readLog builds the trace from the records of the chain that the id names.
func (c *Cmd) readLog(ctx context.Context, e *cli.Env) (*traces.Trace, error) {
	l, _, err := e.AuditLog(ctx)
	if err != nil {
		return nil, err
	}
	about, err := l.Find(ctx, c.Chain, e.WholeLog)
	var found *query.Chain
	if err == nil {
		c.Chain = about.Chains[0]
		found, err = l.Chain(ctx, c.Chain)
	}
	if errors.Is(err, query.ErrNoChain) {
		return nil, fmt.Errorf("trace %s: %w: it was not recorded, or in a segment that was removed", term.Printable(c.Chain), err)
	}
	if err != nil {
		return nil, err
	}
	return traces.FromAudit(found), nil
}

func (c *Cmd) readJaeger(ctx context.Context, j *traces.Jaeger) (t *traces.Trace, err error) {
	if c.TraceID != "" {
		t, err = j.Trace(ctx, c.TraceID)
	} else {
		began, _ := query.TimeOf(c.Chain)
		t, err = j.Chain(ctx, c.Service, c.Chain, began)
	}
	if errors.Is(err, traces.ErrNone) {
		return nil, fmt.Errorf("trace %s: %w at %s, under the service %s: its spans come a second after the answer, and what was not sampled has none; use --jaeger= to read the audit log instead",
			term.Printable(cmp.Or(c.Chain, c.TraceID)), err, j, term.Printable(c.Service))
	}
	if unavailable, ok := errors.AsType[*traces.UnavailableError](err); ok && ctx.Err() == nil {
		return nil, cli.Disconnected(fmt.Errorf("%w; use --jaeger= to read the audit log instead", unavailable))
	}
	return t, err
}

// Traced is the JSON form of a trace.
type Traced struct {
	ChainID string       `json:"chain_id,omitempty"`
	TraceID string       `json:"trace_id,omitempty"`
	Source  string       `json:"source"` // jaeger or audit
	From    string       `json:"from"`
	Began   time.Time    `json:"began"`
	Micros  int64        `json:"us"`
	Spans   []TracedSpan `json:"spans"` // each below its parent, earlier ones first
}

// TracedSpan is one span of a trace.
type TracedSpan struct {
	Depth   int               `json:"depth"`
	Name    string            `json:"name"`
	Service string            `json:"service"`
	ID      string            `json:"span_id,omitempty"`
	Parent  string            `json:"parent_id,omitempty"`
	At      int64             `json:"at_us"` // since the first span began
	Micros  int64             `json:"us"`
	Open    bool              `json:"open,omitempty"` // not over yet
	Error   string            `json:"error,omitempty"`
	Tags    map[string]string `json:"tags"`
}

func newTraced(t *traces.Trace, chain, from string) Traced {
	began, ended := t.Bounds()
	doc := Traced{
		ChainID: chain, TraceID: t.ID, Source: t.Source, From: from, Began: began, Micros: ended.Sub(began).Microseconds(),
		Spans: make([]TracedSpan, len(t.Spans)),
	}
	for i := range t.Spans {
		s := &t.Spans[i]
		doc.Spans[i] = TracedSpan{
			s.Depth, s.Name, s.Service, s.ID, s.Parent, s.Start.Sub(began).Microseconds(), s.Took.Microseconds(), s.Open, s.Failed, s.Tags,
		}
	}
	return doc
}
