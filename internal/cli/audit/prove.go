package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// ProveCmd is `hookctl audit prove`.
type ProveCmd struct {
	Place  string        `arg:"" optional:"" help:"Which record: SEQUENCE:POSITION, as tail and query show it, or N/SEQUENCE:POSITION for segment N; the position is 0 where it is left out."`
	Chain  string        `placeholder:"ID" help:"The result of this chain instead."`
	Export string        `placeholder:"FILE" help:"Take it from an export; default: from the running log."`
	Output string        `short:"o" placeholder:"FILE" help:"File for the receipt; default: the standard output."`
	Wait   time.Duration `default:"5s" placeholder:"DURATION" help:"How long to wait for a checkpoint over the record; default 5s."`
}

// Run creates a receipt.
func (c *ProveCmd) Run(ctx context.Context, e *cli.Env) error {
	if (c.Place == "") == (c.Chain == "") {
		return errors.New("prove which record: give its place or --chain, one of them")
	}
	var at query.Place
	var err error
	if c.Place != "" {
		if at, err = parsePlace(c.Place); err != nil {
			return err
		}
	}
	var receipt audit.Receipt
	if c.Export != "" {
		receipt, err = c.fromExport(ctx, at)
	} else {
		receipt, err = c.fromLog(ctx, e, at)
	}
	if err != nil {
		return err
	}
	if c.Output == "" {
		e.Out.WriteJSON(receipt)
		return nil
	}
	text, err := json.MarshalIndent(receipt, "", "  ")
	if err != nil {
		return fmt.Errorf("write receipt: %w", err)
	}
	if err := os.WriteFile(c.Output, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write receipt: %w", err)
	}
	fmt.Fprintf(e.Stderr, "hookctl: `hookctl audit check %s --key KEY` proves it, with the router's key and without the log\n", term.Printable(c.Output))
	return nil
}

// parsePlace parses a place as tail and query print it. Segment 0 means that none was given.
func parsePlace(text string) (p query.Place, err error) {
	rest := text
	if number, after, ok := strings.Cut(text, "/"); ok {
		if p.Segment, err = strconv.Atoi(number); err != nil || p.Segment < 1 {
			return p, notPlace(text)
		}
		rest = after
	}
	seq, position, ok := strings.Cut(rest, ":")
	if p.Seq, err = strconv.ParseInt(seq, 10, 64); err != nil || p.Seq < 1 {
		return p, notPlace(text)
	}
	if ok {
		if p.Position, err = strconv.Atoi(position); err != nil || p.Position < 0 {
			return p, notPlace(text)
		}
	}
	return p, nil
}

func notPlace(text string) error {
	return fmt.Errorf("read place %q: SEQUENCE:POSITION is needed, such as 17:0, or 2/17:0 for segment 2", term.Clip(text, term.MaxValue))
}

func (c *ProveCmd) fromLog(ctx context.Context, e *cli.Env, at query.Place) (r audit.Receipt, err error) {
	l, _, err := e.AuditLog(ctx)
	if err != nil {
		return r, err
	}
	if c.Chain != "" {
		found, err := l.Chain(ctx, c.Chain)
		if err == nil && found.Result() == nil {
			err = errors.New("the log does not have its result")
		}
		if err != nil {
			return r, fmt.Errorf("prove chain %s: %w", c.Chain, err)
		}
		at = found.Result().Place
	}
	if at.Segment == 0 {
		segments, err := l.Segments(ctx)
		if err != nil {
			return r, err
		}
		at.Segment = 1 // the default in a place
		if len(segments) > 1 && c.Place != "" {
			fmt.Fprintf(e.Stderr, "hookctl: the log has several segments; this is about the first: write N/%s for another\n", term.Printable(c.Place))
		}
	}
	s, err := segment(ctx, l, at.Segment)
	if err != nil {
		return r, err
	}
	bar := newProgress(e, "prove", 0, 0, messages)
	defer bar.end()
	aim, err := l.FindExportEnd(ctx, s, c.Wait, func(what string) { bar.say("waiting %s for %s", c.Wait, what) })
	if err != nil {
		return r, err
	}
	bar.total = aim.To
	in, end := exportStream(ctx, l, s, aim, bar.at)
	defer end()
	return audit.Prove(ctx, in, at.Seq, at.Position)
}

func (c *ProveCmd) fromExport(ctx context.Context, at query.Place) (r audit.Receipt, err error) {
	f, err := os.Open(c.Export)
	if err != nil {
		return r, fmt.Errorf("prove: %w", err)
	}
	defer f.Close()
	if c.Chain != "" {
		if at, err = resultIn(f, c.Chain); err != nil {
			return r, fmt.Errorf("prove chain %s: %w", c.Chain, err)
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return r, fmt.Errorf("prove: %w", err)
		}
	}
	return audit.Prove(ctx, f, at.Seq, at.Position)
}

// resultIn finds the result of a chain in an export.
func resultIn(in io.Reader, chain string) (at query.Place, err error) {
	r, err := audit.NewReader(in)
	if err != nil {
		return at, err
	}
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return at, errors.New("its result is not in the export")
		}
		if err != nil {
			return at, err
		}
		for i, line := range e.Lines {
			record := query.Decode(line)
			if record.Err == nil && record.ChainID == chain && record.Kind == audit.ChainResult {
				return query.Place{Seq: e.Seq, Position: i}, nil
			}
		}
	}
}
