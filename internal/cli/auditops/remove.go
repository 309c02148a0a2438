package auditops

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/hookrouter/hookrouter/internal/auditlog/index"
	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/cli/verifierkeys"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// RemoveSegmentCmd is `hookctl audit remove`.
type RemoveSegmentCmd struct {
	Segment     string   `arg:"" help:"Name of the oldest segment's stream, such as HOOKS_AUDIT."`
	Export      string   `required:"" placeholder:"FILE" help:"Export of the whole segment, which is verified first. Keep it: it is the only copy left."`
	Key         []string `required:"" sep:"none" placeholder:"KEY|FILE" help:"A router's verifier key, or a file with some. Repeatable."`
	Witness     []string `sep:"none" placeholder:"KEY|FILE" help:"A witness's verifier key, or a file with some. Repeatable."`
	Unwitnessed bool     `help:"Remove it although a witness has not seen its end; that witness cannot continue then."`
	Yes         bool     `short:"y" help:"Do not ask to confirm the segment's name."`
}

// RemovedSegment is the JSON form of the result.
type RemovedSegment struct {
	Removed  string        `json:"removed"`
	Messages int64         `json:"messages"`
	Bytes    uint64        `json:"bytes"`
	Export   string        `json:"export"`
	Verdict  audit.Verdict `json:"verdict"`
	Root     tlog.Hash     `json:"root"`
}

// Run removes the segment.
func (c *RemoveSegmentCmd) Run(ctx context.Context, e *cli.Env) error {
	routers, err := verifierkeys.Read("--key", c.Key)
	if err != nil {
		return err
	}
	witnesses, err := verifierkeys.Read("--witness", c.Witness)
	if err != nil {
		return err
	}
	keys := audit.Keys{Routers: verifierkeys.Verifiers(routers), Witnesses: verifierkeys.Verifiers(witnesses)}
	b, t, err := attach(ctx, e)
	if err != nil {
		return err
	}
	s, state, err := c.find(ctx, t)
	if err != nil {
		return err
	}
	last, previous, err := ends(ctx, t, s, state, keys)
	if err != nil {
		return c.no(err)
	}
	report, err := c.verify(ctx, b.Prefix(), s, last, previous, keys)
	if err != nil {
		return c.no(err)
	}
	if err := c.inUse(ctx, t, b, s, last); err != nil {
		return c.no(err)
	}
	e.Tell("%s verifies: %s", c.Export, report)
	if err := c.confirm(e, s, state); err != nil {
		return err
	}
	if err := b.RemoveStream(ctx, s.Name()); err != nil {
		return fmt.Errorf("%w: removing a segment takes an operator's credential", err)
	}
	if err := index.Forget(ctx, b, s.Number); err != nil {
		e.Tell("%v: what the index has of the segment stays, and finds nothing", err)
	}
	done := RemovedSegment{s.Name(), int64(state.Last), state.Bytes, c.Export, report.Verdict, last.Root}
	if e.Out.Document(done) {
		return nil
	}
	e.Out.Print("removed %s with %s, %s; its checkpoints stay, and %s holds what it was; who has verified it says `hookctl audit verify --removed-before %d` from now on\n",
		s.Name(), term.Plural(int(state.Last), "message"), term.Size(float64(state.Bytes)), term.Printable(c.Export), s.Number+1)
	return nil
}

func (c *RemoveSegmentCmd) no(err error) error {
	return fmt.Errorf("%s is not removed: %w", term.Clip(c.Segment, term.MaxValue), err)
}

// find finds the segment. It fails if the segment may not be removed.
func (c *RemoveSegmentCmd) find(ctx context.Context, t *store.Log) (s store.Segment, state natsx.StreamState, err error) {
	segments, err := t.Segments(ctx)
	if err != nil {
		return s, state, err
	}
	var names []string
	at := -1
	for i, one := range segments {
		names = append(names, one.Name())
		if one.Name() == c.Segment {
			at = i
		}
	}
	if at < 0 {
		return s, state, fmt.Errorf("there is no segment %s: there are %s", term.Clip(c.Segment, term.MaxValue), strings.Join(names, ", "))
	}
	s = segments[at]
	if state, err = t.State(ctx, s); err != nil {
		return s, state, err
	}
	switch {
	case s.Number == t.Live().Number:
		return s, state, c.no(errors.New("it is the live one: `hookctl audit rotate` closes it and begins the next"))
	case !state.Sealed:
		return s, state, c.no(errors.New("it is not closed"))
	case at > 0:
		return s, state, c.no(fmt.Errorf("%s is older, and the oldest goes first", names[0]))
	}
	return s, state, nil
}

// confirm asks the user to type the segment's name.
func (c *RemoveSegmentCmd) confirm(e *cli.Env, s store.Segment, state natsx.StreamState) error {
	if c.Yes {
		return nil
	}
	fmt.Fprintf(e.Stderr, "This removes %s with %s for ever. Type its name to go on: ", s.Name(), term.Plural(int(state.Last), "message"))
	line, err := bufio.NewReader(e.Stdin).ReadString('\n')
	if err != nil && line == "" {
		fmt.Fprintln(e.Stderr)
	}
	if strings.TrimSpace(line) != s.Name() {
		return c.no(errors.New("its name was not typed; --yes goes on without"))
	}
	return nil
}
