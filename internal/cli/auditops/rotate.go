package auditops

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/natsx"
)

// RotateCmd is `hookctl audit rotate`.
type RotateCmd struct {
	MaxBytes  byteCount     `placeholder:"SIZE" help:"Only if the live segment holds at least this much, such as 10GB."`
	OlderThan age           `placeholder:"AGE" help:"Only if the live segment is this old, such as 30d. With --max-bytes: if either holds."`
	Wait      time.Duration `default:"30s" placeholder:"DURATION" help:"How long to wait for a router to sign the end; default 30s."`
}

// Rotated is the JSON form of the result.
type Rotated struct {
	Rotated bool   `json:"rotated"`
	Reason  string `json:"reason,omitempty"` // why not
	Segment string `json:"segment"`          // that was closed, or is live still
	Live    string `json:"live,omitempty"`   // the next
	Size    int64  `json:"size"`             // messages in the segment
	Bytes   uint64 `json:"bytes"`
	Signed  bool   `json:"signed"` // a checkpoint covers the closed segment to its end
	Root    string `json:"root,omitempty"`
	// Alarm is why no router signs the end; nil for no alarm.
	Alarm *query.Alarm `json:"alarm,omitempty"`
}

// attach connects to the bus and opens the audit log on it.
func attach(ctx context.Context, e *cli.Env) (*natsx.Conn, *store.Log, error) {
	b, err := e.Connect()
	if err != nil {
		return nil, nil, err
	}
	t, err := store.Attach(ctx, b)
	return b, t, err
}

// Run seals the live segment.
func (c *RotateCmd) Run(ctx context.Context, e *cli.Env) error {
	if c.Wait < 0 {
		return errors.New("--wait can't be negative")
	}
	_, t, err := attach(ctx, e)
	if err != nil {
		return err
	}
	live := t.Live()
	state, err := t.State(ctx, live)
	if err != nil {
		return err
	}
	done := Rotated{Segment: live.Name(), Size: int64(state.Last), Bytes: state.Bytes}
	if done.Reason = c.notYet(state, time.Now()); done.Reason != "" {
		showRotated(e, done)
		return nil
	}
	sealed, err := t.Seal(ctx) // resumes an interrupted seal
	if err != nil {
		return fmt.Errorf("%w: closing a segment and making the next takes an operator's credential; run it again, it goes on where it was", err)
	}
	done.Live = t.Live().Name()
	if state, err = t.State(ctx, sealed); err != nil {
		return err
	}
	done.Rotated, done.Segment, done.Size, done.Bytes = true, sealed.Name(), int64(state.Last), state.Bytes
	last, err := c.await(ctx, e, t, sealed, done.Size)
	if err != nil {
		return err
	}
	if done.Signed = last.OK && last.Size == done.Size; done.Signed {
		done.Root = last.Root.String()
	} else if done.Alarm, err = query.ProvenAlarm(ctx, t, sealed); err != nil {
		return err
	} else if e.Exit = cli.ExitDisconnected; done.Alarm != nil {
		e.Exit = cli.ExitLocal
	}
	showRotated(e, done)
	return nil
}

// notYet returns why there is nothing to do, or "".
func (c *RotateCmd) notYet(state natsx.StreamState, now time.Time) string {
	old, large := now.Sub(state.Created) >= time.Duration(c.OlderThan), state.Bytes >= uint64(c.MaxBytes)
	switch {
	case state.Sealed:
		return ""
	case state.Last == 0:
		return "it is empty"
	case c.OlderThan == 0 && c.MaxBytes == 0, c.OlderThan > 0 && old, c.MaxBytes > 0 && large:
		return ""
	}
	return fmt.Sprintf("it holds %s and is %s old", term.Size(float64(state.Bytes)), term.Span(now.Sub(state.Created)))
}

// await waits until a router has signed the end of the sealed segment, or gives up.
func (c *RotateCmd) await(ctx context.Context, e *cli.Env, t *store.Log, s store.Segment, end int64) (query.Note, error) {
	deadline := time.After(c.Wait)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for announced := false; ; announced = true {
		next, err := query.SignedAfter(ctx, t, s) // a router signs the next segment after this one
		if err != nil {
			return query.Note{}, err
		}
		last, err := t.LastCheckpoint(ctx, s)
		if err != nil && !errors.Is(err, natsx.ErrNoKey) {
			return query.Note{}, err
		}
		n := query.ParseNote([]byte(last.Signed))
		if n.OK && n.Size >= end || next != "" {
			return n, nil
		}
		if !announced {
			e.Tell("%s is closed; waiting for a router to sign its end", s.Name())
		}
		select {
		case <-tick.C:
		case <-deadline:
			return n, nil
		case <-ctx.Done():
			return n, ctx.Err()
		}
	}
}

func showRotated(e *cli.Env, r Rotated) {
	switch {
	case e.Out.Document(r):
	case !r.Rotated:
		e.Out.Print("%s stays live: %s\n", r.Segment, r.Reason)
	case r.Signed:
		e.Out.Print("closed %s at %s, %s; signed to its end\n  root %s\n%s is live\n",
			r.Segment, term.Plural(int(r.Size), "message"), term.Size(float64(r.Bytes)), r.Root, r.Live)
	default:
		e.Out.Print("closed %s at %s; %s is live\n", r.Segment, term.Plural(int(r.Size), "message"), r.Live)
	}
	switch {
	case r.Alarm != nil && !e.Out.JSON:
		e.Out.Fold(e.Out.Paint(term.Red, "ALARM: "+term.Printable(r.Alarm.String())))
	case r.Rotated && !r.Signed && r.Alarm == nil:
		fmt.Fprintf(e.Stderr, "hookctl: NOT SIGNED YET: no checkpoint covers the end of %s, so no router with an audit key runs here. "+
			"Start one: it signs the end of the closed segment first, and nothing is lost meanwhile. "+
			"Until then the export of %s can't be verified, and the segment can't be removed\n", r.Segment, r.Segment)
	}
}

// byteCount is a size such as 10GB or 512MiB.
type byteCount uint64

// UnmarshalText implements [encoding.TextUnmarshaler].
func (n *byteCount) UnmarshalText(text []byte) error {
	number := strings.TrimRight(string(text), "BKMGTIbkmgti ")
	unit, ok := map[string]float64{
		"": 1, "B": 1, "K": 1e3, "KB": 1e3, "M": 1e6, "MB": 1e6, "G": 1e9, "GB": 1e9, "T": 1e12, "TB": 1e12,
		"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40,
	}[strings.ToUpper(strings.TrimSpace(string(text[len(number):])))]
	value, err := strconv.ParseFloat(number, 64)
	if err != nil || !ok || value <= 0 || value*unit > math.MaxInt64 {
		return fmt.Errorf("%q is not a size such as 500MB or 10GiB", term.Clip(string(text), term.MaxValue))
	}
	*n = byteCount(value * unit)
	return nil
}

// age is a duration that may be given in days, such as 30d or 12h.
type age time.Duration

// UnmarshalText implements [encoding.TextUnmarshaler].
func (a *age) UnmarshalText(text []byte) error {
	d, ok := cli.ParseDuration(string(text))
	if !ok || d == 0 {
		return fmt.Errorf("%q is not a time span such as 30d or 12h", term.Clip(string(text), term.MaxValue))
	}
	*a = age(d)
	return nil
}
