package gitstatus

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/process"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// DefaultMaxFiles is the default limit of listed files.
const DefaultMaxFiles = 50

const (
	maxMaxFiles = 500
	maxText     = 8 << 10 // bytes of one result; the limit of an injection is 10 KiB
)

// Options of the builtin. The zero Options are its defaults.
type Options struct {
	// Dir is the directory that git looks at, found from the worker's directory: only files in
	// it are told. Empty means the repository of the event's cwd, or where the agent does not
	// tell it of the worker's directory.
	Dir string `json:"dir"`
	// MaxFiles bounds the files that are listed; 0 means [DefaultMaxFiles].
	MaxFiles int `json:"max_files"`
}

// Builtin is git-status.
var Builtin = builtin.Of("Tells the agent the branch and the changed files, when they changed.",
	chain.Registration{
		Events:   []string{events.SessionStart, events.PromptSubmit, events.ContextPostCompact, events.SessionEnd},
		Priority: 25, TimeoutMS: 5_000,
	}, New)

// remembered is the state of a session.
type remembered struct {
	Status string `json:"status"` // a digest of what the agent got last
}

// New builds the hook.
func New(s kind.Section, o Options) (kind.Hook, error) {
	if err := kind.Range("/max_files", &o.MaxFiles, DefaultMaxFiles, 1, maxMaxFiles); err != nil {
		return kind.Hook{}, err
	}
	if o.Dir != "" {
		o.Dir = s.Worker.Path(o.Dir)
	}
	log, states := builtin.LogOf(s), builtin.StateOf[remembered](s, "git-status")
	path, err := process.Find("", "git")
	var warnings []error
	if err != nil {
		warnings = append(warnings, kind.At("", "there is no git here: the hook keeps silent"))
	}
	return kind.Hook{Acts: true, Warnings: warnings, Handler: builtin.PerSession(states, log, func(ctx context.Context, ev events.Event) (chain.Result, error) {
		switch events.Canonical(ev.Name) {
		case events.SessionStart, events.ContextPostCompact: // the agent's context may no longer have the status
			builtin.Forget(ctx, states, log, ev)
		}
		if path == "" {
			return chain.Result{}, nil
		}
		text, err := git{path, o.place(s.Worker.Dir, ev), o.Dir != ""}.status(ctx)
		if err != nil || text == "" {
			return chain.Result{}, err
		}
		sum := sha256.Sum256([]byte(text))
		digest, news := base64.RawStdEncoding.EncodeToString(sum[:]), true
		if ev.Session != "" {
			err = states.Update(ctx, builtin.Owner(ev), func(t *remembered) bool {
				news = t.Status != digest
				t.Status = digest
				return news
			})
		}
		if err != nil || !news {
			return chain.Result{}, err
		}
		result := chain.Injection(shorten(text, o.MaxFiles))
		result.SuppressOutput = true
		return result, nil
	})}, nil
}

// place returns the directory to run git in.
func (o Options) place(workerDir string, ev events.Event) string {
	if o.Dir != "" {
		return o.Dir
	}
	if data, err := events.ParseObject(ev.Data); err == nil {
		if cwd, _ := data.GetString("cwd"); filepath.IsAbs(cwd) {
			return cwd
		}
	}
	return workerDir
}

// shorten returns the text for the agent: the branch and a limited list of files.
func shorten(status string, maxFiles int) string {
	lines := strings.Split(strings.TrimRight(status, "\n"), "\n")
	branch, files := strings.TrimPrefix(lines[0], "## "), lines[1:]
	var text strings.Builder
	fmt.Fprintf(&text, "Git status: branch %.500s", branch)
	if len(files) == 0 {
		text.WriteString(", nothing changed")
	}
	for i, file := range files {
		if i == maxFiles || text.Len()+len(file) > maxText {
			fmt.Fprintf(&text, "\n… and %d more", len(files)-i)
			break
		}
		text.WriteString("\n" + file)
	}
	return strings.ToValidUTF8(text.String(), "?")
}
