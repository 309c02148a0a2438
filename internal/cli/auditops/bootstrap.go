package auditops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/approvals"
	"github.com/hookrouter/hookrouter/internal/auditlog/index"
	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	policies "github.com/hookrouter/hookrouter/internal/bundle/store"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/session"
)

// BootstrapCmd is `hookctl audit bootstrap`.
type BootstrapCmd struct {
	Replicas int  `placeholder:"N" help:"Replicas: 1, 3 or 5. Default: three on a cluster, else one; existing ones stay as they are."`
	Check    bool `help:"Only check; exit with 1 if something is missing or has drifted."`
}

// The states of what a router needs.
const (
	asNeeded   = "ok"
	wasMade    = "made"
	wasMended  = "mended"
	isMissing  = "missing"
	hasDrifted = "drifted"
	hasFailed  = "failed"
)

// Needed is one resource that a router needs, and its state afterwards.
type Needed struct {
	Kind  string   `json:"kind"` // stream or bucket
	Name  string   `json:"name"`
	State string   `json:"state"`
	Drift []string `json:"drift,omitempty"` // what was, or still is, not as it must be
	Error string   `json:"error,omitempty"`
}

// provision is a resource that a router needs, with the functions that check, create and repair it.
type provision struct {
	kind, name string
	look       func(ctx context.Context) (drift []string, replicas int, err error) // natsx.ErrNoStream: missing
	make       func(ctx context.Context) error
	mend       func(ctx context.Context) error
	scale      func(ctx context.Context, replicas int) error
}

// Run creates what is missing and repairs what has drifted.
func (c *BootstrapCmd) Run(ctx context.Context, e *cli.Env) error {
	switch c.Replicas {
	case 0, 1, 3, 5:
	default:
		return fmt.Errorf("--replicas %d: it must be 1, 3 or 5", c.Replicas)
	}
	b, err := e.Connect()
	if err != nil {
		return err
	}
	var list []Needed
	for _, options := range buckets(b.Prefix(), b.Bucket(), c.Replicas) {
		list = append(list, c.provide(ctx, bucketOf(b, options)))
	}
	list = append(list, c.provide(ctx, c.streamOf(b, store.CheckpointStream(b), store.CheckpointSubjects(b))))
	segments, err := c.segments(ctx, b)
	if err != nil {
		list = append(list, Needed{Kind: "stream", Name: b.AuditStream(), State: hasFailed, Error: err.Error()})
	}
	for _, name := range segments {
		list = append(list, c.provide(ctx, c.streamOf(b, name, store.Subjects(b))))
	}
	showNeeded(e, list, c.Check)
	return nil
}

// buckets returns the buckets that a router opens.
func buckets(prefix, registrations string, replicas int) []natsx.BucketOptions {
	return []natsx.BucketOptions{
		registry.Bucket(registrations, replicas),
		session.Bucket(prefix, replicas),
		approvals.Bucket(prefix, replicas),
		recorder.SaltBucket(prefix, replicas),
		index.Bucket(prefix, replicas),
		policies.Bucket(prefix, replicas),
	}
}

func bucketOf(b *natsx.Conn, o natsx.BucketOptions) provision {
	return provision{
		kind: "bucket", name: o.Name,
		look: func(ctx context.Context) ([]string, int, error) {
			state, err := b.InspectBucket(ctx, o)
			return state.Drift, state.Replicas, err
		},
		make: func(ctx context.Context) error {
			_, err := b.OpenBucket(ctx, o)
			return err
		},
		mend:  func(ctx context.Context) error { return b.RepairBucket(ctx, o) },
		scale: func(ctx context.Context, n int) error { return b.ScaleBucket(ctx, o.Name, n) },
	}
}

func (c *BootstrapCmd) streamOf(b *natsx.Conn, name string, subjects []string) provision {
	open := func(ctx context.Context) (*natsx.Stream, error) { return b.OpenStream(ctx, name) }
	return provision{
		kind: "stream", name: name,
		look: func(ctx context.Context) ([]string, int, error) {
			s, err := open(ctx)
			if err != nil {
				return nil, 0, err
			}
			state, err := s.State(ctx, subjects)
			if err != nil {
				return nil, 0, err
			}
			replicas, err := s.Replicas(ctx)
			return slices.Concat(state.Drift, state.Removed), replicas, err
		},
		make: func(ctx context.Context) error {
			_, err := b.CreateStream(ctx, name, subjects, c.Replicas)
			return err
		},
		mend: func(ctx context.Context) error {
			s, err := open(ctx)
			if err == nil {
				err = s.Repair(ctx, subjects)
			}
			return err
		},
		scale: func(ctx context.Context, n int) error {
			s, err := open(ctx)
			if err == nil {
				err = s.Scale(ctx, n)
			}
			return err
		},
	}
}

// segments returns the names of the log's streams: the existing ones, or else the first one.
func (c *BootstrapCmd) segments(ctx context.Context, b *natsx.Conn) (names []string, err error) {
	t, err := store.Attach(ctx, b)
	if errors.Is(err, store.ErrNoLog) {
		return []string{b.AuditStream()}, nil
	}
	if err != nil {
		return nil, err
	}
	segments, err := t.Segments(ctx)
	for _, s := range segments {
		names = append(names, s.Name())
	}
	return names, err
}

// provide checks a resource, and creates it if it is missing or repairs it if it has drifted.
func (c *BootstrapCmd) provide(ctx context.Context, p provision) Needed {
	n := Needed{Kind: p.kind, Name: p.name, State: asNeeded}
	failed := func(err error) Needed {
		n.State, n.Error = hasFailed, err.Error()
		return n
	}
	drift, replicas, err := p.look(ctx)
	switch {
	case errors.Is(err, natsx.ErrNoStream) && c.Check:
		n.State = isMissing
		return n
	case errors.Is(err, natsx.ErrNoStream):
		if err := p.make(ctx); err != nil {
			return failed(err)
		}
		n.State = wasMade
		return n
	case err != nil:
		return failed(err)
	}
	other := c.Replicas != 0 && replicas != c.Replicas
	if n.Drift = drift; other {
		n.Drift = append(n.Drift, fmt.Sprintf("replicas is %d, not %d", replicas, c.Replicas))
	}
	if len(n.Drift) == 0 {
		return n
	}
	if n.State = hasDrifted; c.Check {
		return n
	}
	var problem error
	if len(drift) > 0 {
		problem = p.mend(ctx)
	}
	if other {
		problem = errors.Join(problem, p.scale(ctx, c.Replicas))
	}
	left, replicas, err := p.look(ctx)
	if err != nil {
		return failed(err)
	}
	if len(left) == 0 && problem == nil && (c.Replicas == 0 || replicas == c.Replicas) {
		n.State = wasMended
		return n
	}
	if len(left) > 0 {
		n.Drift = left
	}
	if problem != nil {
		n.Error = problem.Error()
	}
	return n
}

// well reports whether a resource is as a router needs it.
func (n Needed) well() bool { return n.State == asNeeded || n.State == wasMade || n.State == wasMended }

func showNeeded(e *cli.Env, list []Needed, check bool) {
	rows := [][]term.Cell{term.Heads("KIND", "NAME", "STATE", "")}
	well := true
	for _, n := range list {
		if !n.well() {
			well, e.Exit = false, cli.ExitLocal
		}
		color := term.Green
		if !n.well() {
			color = term.Red
		}
		what := strings.Join(n.Drift, ", ")
		if n.Error != "" {
			what = strings.TrimPrefix(what+": "+n.Error, ": ")
		}
		rows = append(rows, []term.Cell{term.Dim.Cell(n.Kind), term.Plain.Cell(n.Name), color.Cell(n.State), term.Plain.Cell(what)})
	}
	if e.Out.Document(struct {
		OK    bool     `json:"ok"`
		Needs []Needed `json:"needs"`
	}{well, list}) {
		return
	}
	e.Out.Table(rows)
	switch {
	case well:
	case check:
		e.Out.Print("`hookctl audit bootstrap` makes what is missing and mends what has drifted\n")
	default:
		e.Out.Print("What the server does not let be mended: a stream of the log is replaced with `hookctl audit rotate`, which makes the next one anew; " +
			"messages that were removed are gone. For a bucket, stop the routers, and remove and make it anew: what it holds is lost.\n")
	}
}
