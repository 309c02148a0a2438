package demo

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/internal/auditlog"
	"github.com/hookrouter/hookrouter/internal/auditlog/signer"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

//go:embed turn.jsonl
var recording []byte

// guardID is the hook whose worker is killed at the end.
const guardID = "bash-validator"

// step is one line of the recording.
type step struct {
	Event   string          `json:"event"`
	Data    json.RawMessage `json:"data"`
	Collect bool            `json:"collect"` // emit_and_collect instead of emit
	Guarded bool            `json:"guarded"` // repeated without the guard's worker
}

// Run runs the demo and writes to out, in colour if asked to.
func Run(ctx context.Context, out io.Writer, colour bool) error {
	began := time.Now()
	dir, err := os.MkdirTemp("", "hook-router-demo-")
	if err != nil {
		return fmt.Errorf("run the demo: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	key, err := signer.LoadKey(filepath.Join(dir, "audit.key"))
	if err != nil {
		return err
	}
	n, err := server.Start(ctx, server.Options{StoreDir: filepath.Join(dir, "nats"), Router: router.Options{Audit: auditlog.Options{Key: key}}})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	up, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- n.Run(ctx, func() { close(up) }) }()
	select {
	case <-up:
	case err := <-done:
		stop()
		return err
	}
	err = tour(ctx, n, dir, key.Verifier, &printer{out: term.NewPrinter(out, false, false, colour), began: began})
	stop()
	return errors.Join(err, <-done)
}

// tour plays the agent's turn.
func tour(ctx context.Context, n *server.Server, dir string, key note.Verifier, p *printer) (err error) {
	workspace := filepath.Join(dir, "workspace")
	if err := os.Mkdir(workspace, 0o700); err != nil {
		return fmt.Errorf("run the demo: %w", err)
	}
	hooks, err := startHooks(ctx, n, workspace)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hooks.stop(ctx)) }()
	a, err := connectAgent(ctx, n, p)
	if err != nil {
		return err
	}
	defer a.bus.Close()
	p.title(len(hooks.file.Hooks))
	lines := bufio.NewScanner(bytes.NewReader(bytes.ReplaceAll(recording, []byte("$WORKSPACE"), []byte(workspace))))
	lines.Buffer(nil, 1<<20)
	var dangerous step
	for lines.Scan() {
		var s step
		line := bytes.ReplaceAll(lines.Bytes(), []byte("$ELAPSED"), strconv.AppendInt(nil, time.Since(p.began).Milliseconds(), 10))
		if err := json.Unmarshal(line, &s); err != nil {
			return fmt.Errorf("read the recording: %w", err)
		}
		if s.Guarded {
			dangerous = s
		}
		if err := playWrite(s, workspace); err != nil {
			return err
		}
		if err := a.play(ctx, s, hooks, p); err != nil {
			return err
		}
	}
	if err := hooks.killGuard(ctx); err != nil {
		return err
	}
	p.killed(guardID)
	if err := a.play(ctx, dangerous, hooks, p); err != nil {
		return err
	}
	p.held()
	if err := prove(ctx, a.bus, key, p); err != nil {
		return err
	}
	p.end(hooks.observed.Load())
	return nil
}

// player is the demo's agent, together with the person who decides approval requests.
type player struct {
	*agent.Agent
	bus    *natsx.Conn
	failed error // of answering an approval request
}

func connectAgent(ctx context.Context, n *server.Server, p *printer) (*player, error) {
	b, err := natsx.Connect(natsx.Options{Name: "demo-agent", InProcess: n.InProcess()})
	if err != nil {
		return nil, err
	}
	a := &player{bus: b}
	client, err := hookrouter.Connect(ctx, hookrouter.Options{Conn: b.Conn()})
	if err == nil {
		person := approver.New(client)
		a.Agent, err = agent.New(client, agent.Options{
			Session: "demo", Source: "/agents/demo",
			OnPending: func(q verdict.Approval) { a.failed = decide(ctx, person, q, p) },
		})
	}
	if err != nil {
		b.Close()
		return nil, err
	}
	return a, nil
}

// decide answers an approval request, as a person would at a terminal or in a browser.
func decide(ctx context.Context, person *approver.Approver, q verdict.Approval, p *printer) error {
	p.asked(q)
	_, err := person.Answer(ctx, q.ID, approval.Answer{Option: "Allow once", By: "ann", DataSHA256: q.DataSHA256})
	return err
}

// play executes one event and prints the outcome.
func (a *player) play(ctx context.Context, s step, hooks *hooks, p *printer) error {
	if s.Collect {
		began := time.Now()
		c, err := a.EmitAndCollect(ctx, s.Event, s.Data, 0)
		if err != nil {
			return err
		}
		p.collected(s, c, time.Since(began))
		return nil
	}
	began := time.Now()
	x, err := a.Execute(ctx, s.Event, s.Data)
	if err := errors.Join(err, a.failed); err != nil {
		return err
	}
	p.answered(s, x, hooks.of(x.ChainID), time.Since(began))
	if s.Guarded && x.Permitted() {
		return errors.New("the dangerous call was allowed: this is a bug")
	}
	return nil
}

// playWrite writes the file of a recorded Write call, for the linter. It writes only below the
// demo's own directory.
func playWrite(s step, workspace string) error {
	var d struct {
		ToolName  string `json:"tool_name"`
		ToolInput struct {
			FilePath string `json:"file_path"`
			Content  string `json:"content"`
		} `json:"tool_input"`
	}
	if err := json.Unmarshal(s.Data, &d); err != nil {
		return fmt.Errorf("read the recording: %w", err)
	}
	inside := strings.HasPrefix(d.ToolInput.FilePath, workspace+string(filepath.Separator))
	if s.Event != events.ToolPost || d.ToolName != "Write" || !inside {
		return nil
	}
	return os.WriteFile(d.ToolInput.FilePath, []byte(d.ToolInput.Content), 0o600)
}
