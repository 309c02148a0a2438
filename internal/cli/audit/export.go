package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// ExportCmd is `hookctl audit export`.
type ExportCmd struct {
	File    string        `arg:"" help:"File to write; - for the standard output."`
	Segment int           `placeholder:"N" help:"Number of the segment, 1 being the first; default: the live one."`
	Resume  bool          `help:"Continue an existing file, for example daily."`
	Wait    time.Duration `default:"5s" placeholder:"DURATION" help:"How long to wait for a checkpoint over the last message; default 5s."`
}

// exported is the JSON form of the result.
type exported struct {
	File     string `json:"file"`
	Origin   string `json:"origin"`
	Messages int64  `json:"messages"` // in the file
	Added    int64  `json:"added"`    // of them now
	Covered  bool   `json:"covered"`  // a checkpoint covers the last
}

// Run exports a segment.
func (c *ExportCmd) Run(ctx context.Context, e *cli.Env) error {
	if c.Segment < 0 || c.Wait < 0 {
		return errors.New("use --segment and --wait: they can't be negative")
	}
	if c.Resume && c.File == "-" {
		return errors.New("use --resume: a file is needed, the standard output can't be gone on with")
	}
	l, _, err := e.AuditLog(ctx)
	if err != nil {
		return err
	}
	s, err := segment(ctx, l, c.Segment) // before the file is created
	if err != nil {
		return err
	}
	if c.File == "-" {
		return c.export(ctx, e, l, s, e.Stdout, nil)
	}
	mode := os.O_RDWR | os.O_CREATE
	if !c.Resume {
		mode |= os.O_EXCL
	}
	file, err := os.OpenFile(c.File, mode, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("export to %s: there is such a file already; --resume goes on with it", c.File)
	}
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	err = c.export(ctx, e, l, s, file, file)
	return errors.Join(err, file.Sync(), file.Close())
}

// export writes a segment to out. file is out if that is a file, otherwise nil.
func (c *ExportCmd) export(ctx context.Context, e *cli.Env, l *query.Log, s store.Segment, out io.Writer, file *os.File) error {
	w, s, err := c.begin(ctx, l, s, out, file)
	if err != nil {
		return err
	}
	had := w.Last()
	bar := newProgress(e, "export", had, 0, messages)
	defer bar.end()
	aim, err := l.FindExportEnd(ctx, s, c.Wait, func(what string) { bar.say("waiting %s for %s", c.Wait, what) })
	if err != nil {
		return err
	}
	bar.total = aim.To
	if err := l.Export(ctx, w, aim, bar.at); err != nil {
		if file != nil {
			_ = w.Flush()
			err = fmt.Errorf("%w; --resume goes on with what is in %s", err, c.File)
		}
		return fmt.Errorf("export %s: %w", w.Header().Origin, err)
	}
	bar.end()
	c.report(ctx, e, l, exported{c.File, w.Header().Origin, w.Last(), w.Last() - had, aim.Covered}, s)
	if aim.To == 0 || aim.Covered {
		return nil
	}
	alarm, err := l.Alarm(ctx, s)
	switch {
	case err != nil:
		return err
	case alarm != nil:
		return fmt.Errorf("export %s: all messages are written, and will not verify: %s", w.Header().Origin, term.Printable(alarm.String()))
	default:
		return fmt.Errorf("export %s: all messages are written, and no checkpoint covers the last of them: "+
			"is a router with an audit key running? `hookctl audit export %s --resume` adds the checkpoint once there is one", w.Header().Origin, c.File)
	}
}

// begin starts the file, or finds the segment and the position at which to continue it.
func (c *ExportCmd) begin(ctx context.Context, l *query.Log, s store.Segment, out io.Writer, file *os.File) (*audit.Writer, store.Segment, error) {
	if file != nil {
		info, err := file.Stat()
		if err != nil {
			return nil, s, fmt.Errorf("export: %w", err)
		}
		if info.Size() > 0 {
			return c.goOn(ctx, l, file)
		}
	}
	w, err := audit.NewWriter(out, l.Header(s))
	return w, s, err
}

// goOn finds the segment and the end of an existing file.
func (c *ExportCmd) goOn(ctx context.Context, l *query.Log, file *os.File) (w *audit.Writer, s store.Segment, err error) {
	if w, err = audit.Resume(file); err != nil {
		return nil, s, fmt.Errorf("%w (%s)", err, c.File)
	}
	segments, err := l.Segments(ctx)
	if err != nil {
		return nil, s, err
	}
	for _, s := range segments {
		if l.Origin(s) == w.Header().Origin && (c.Segment == 0 || c.Segment == s.Number) {
			return w, s, nil
		}
	}
	return nil, s, fmt.Errorf("resume %s: it is an export of %s, which is not the log or the segment here", c.File, w.Header().Origin)
}

// segment returns a segment by its number; 0 means the live one.
func segment(ctx context.Context, l *query.Log, number int) (store.Segment, error) {
	s, err := l.Segment(ctx, number)
	if errors.Is(err, natsx.ErrNoStream) {
		return s, fmt.Errorf("there is no segment %d of the audit log, or not any more; `hookctl audit stats` lists them", number)
	}
	return s, err
}

func (c *ExportCmd) report(ctx context.Context, e *cli.Env, l *query.Log, x exported, s store.Segment) {
	switch {
	case c.File != "-" && e.Out.JSON:
		e.Out.Document(x)
	case c.File != "-":
		e.Out.Print("%s of %s in %s, %d of them new\n", messages(float64(x.Messages)), term.Printable(x.Origin), term.Printable(c.File), x.Added)
	}
	if x.Messages == 0 {
		fmt.Fprintf(e.Stderr, "hookctl: the log %s is empty\n", term.Printable(x.Origin))
	}
	if segments, err := l.Segments(ctx); err == nil && c.Segment == 0 && s.Number > 1 && segments[0].Number < s.Number {
		fmt.Fprintf(e.Stderr, "hookctl: this is segment %d; the log has earlier ones, which --segment exports\n", s.Number)
	}
}
