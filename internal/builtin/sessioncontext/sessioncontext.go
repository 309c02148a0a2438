package sessioncontext

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/process"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Defaults and limits of [Options].
const (
	DefaultFile     = "CONTEXT.md"
	DefaultMaxBytes = 8 << 10

	maxMaxBytes = 9 << 10 // the limit of an injection is 10 KiB
)

// Options of the builtin. The zero Options tell the file [DefaultFile], where there is
// one.
type Options struct {
	// Text is added verbatim.
	Text string `json:"text"`
	// Files are paths, or patterns such as docs/*.md, from Dir; those that are not
	// there are passed over. Nil means [DefaultFile] where there is neither a text nor
	// a command.
	Files []string `json:"files"`
	// Command is a program and its arguments, run in Dir without a shell; what it
	// prints is told.
	Command []string `json:"command"`
	// Dir is where files are found and the command runs, found from the worker's
	// directory, which it is where it is empty.
	Dir string `json:"dir"`
	// MaxBytes bounds the whole text; 0 means [DefaultMaxBytes].
	MaxBytes int `json:"max_bytes"`
}

// Builtin is session-context.
var Builtin = builtin.Of("Tells the agent at the start of a session what it should know.",
	chain.Registration{
		Events:   []string{events.SessionStart, events.ContextPostCompact, events.ContextCompaction, events.SessionEnd},
		Priority: 20, TimeoutMS: 5_000,
	}, New)

// remembered is the state of a session.
type remembered struct {
	Once bool `json:"once"`
}

// New builds the hook.
func New(s kind.Section, o Options) (kind.Hook, error) {
	src, err := o.sources(s.Worker.Dir)
	if err != nil {
		return kind.Hook{}, err
	}
	log, states := builtin.LogOf(s), builtin.StateOf[remembered](s, "session-context")
	return kind.Hook{Acts: len(o.Command) > 0, Handler: builtin.PerSession(states, log, func(ctx context.Context, ev events.Event) (chain.Result, error) {
		if events.Canonical(ev.Name) == events.SessionStart {
			if known, err := states.Get(ctx, builtin.Owner(ev)); err != nil || known.Once && ev.Session != "" && !afterCompaction(ev) {
				return chain.Result{}, err
			}
		}
		text, err := src.read(ctx)
		if err != nil || text == "" {
			return chain.Result{}, err
		}
		if ev.Session != "" {
			if err := states.Update(ctx, builtin.Owner(ev), func(t *remembered) bool { changed := !t.Once; t.Once = true; return changed }); err != nil {
				return chain.Result{}, err
			}
		}
		result := chain.Injection(text)
		result.SuppressOutput = true
		return result, nil
	})}, nil
}

// afterCompaction reports whether a session starts because its context was compacted. Some agents
// report a compaction only as such a start.
func afterCompaction(ev events.Event) bool {
	data, err := events.ParseObject(ev.Data)
	if err != nil {
		return false
	}
	source, _ := data.GetString("source")
	return source == "compact"
}

// sources checks the options and returns the sources of the text.
func (o Options) sources(workerDir string) (sources, error) {
	src := sources{text: strings.TrimSpace(o.Text), files: o.Files, dir: o.Dir, left: cmp.Or(o.MaxBytes, DefaultMaxBytes)}
	if o.MaxBytes < 0 || o.MaxBytes > maxMaxBytes {
		return src, kind.At("/max_bytes", "must be 1 to %d, not %d", maxMaxBytes, o.MaxBytes)
	}
	if !filepath.IsAbs(src.dir) {
		src.dir = filepath.Join(workerDir, src.dir)
	}
	src.dir = cmp.Or(src.dir, ".")
	if src.files == nil && src.text == "" && len(o.Command) == 0 {
		src.files = []string{DefaultFile}
	}
	if err := src.check(); err != nil {
		return src, err
	}
	if len(o.Command) > 0 {
		path, err := process.Find(src.dir, o.Command[0])
		if err != nil {
			return src, kind.Lacks("/command/0", err)
		}
		src.command = &process.Program{Path: path, Args: o.Command[1:], Dir: src.dir, Env: process.Environ(process.DefaultEnv), MaxOutput: src.left}
		src.name = fmt.Sprintf("%.200s", strings.Join(o.Command, " "))
	}
	return src, nil
}
