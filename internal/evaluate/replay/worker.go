package replay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Request is one event on its way to a worker's process: a line of JSON.
type Request struct {
	Event   string          `json:"event"`
	Session string          `json:"session_id,omitempty"`
	ID      string          `json:"id,omitempty"`
	Source  string          `json:"source,omitempty"`
	Time    string          `json:"time,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
	// Recorded are the answers of the hooks that the chain had, in their order; nil
	// where the file is tried alone.
	Recorded []Answer `json:"recorded,omitempty"`
}

// Reply is what a worker's process says of one event: a line of JSON.
type Reply struct {
	*Outcome
	Refused *Refusal `json:"refused,omitempty"` // instead
}

// Worker is the policy of a worker file: a process that runs its hooks. It is safe for
// concurrent use. Close it.
type Worker struct {
	recorded bool
	cmd      *exec.Cmd
	stdin    io.WriteCloser

	asking sync.Mutex // guards stdin: what is written is in the order of waiting

	mu      sync.Mutex   // guards what follows; never held while something is written
	waiting []chan Reply // in the order of the requests

	broken error         // why no more replies come; read it after done
	done   chan struct{} // closed then
}

// WorkerOptions say how to start a worker's process.
type WorkerOptions struct {
	Program  string   // the path of hook-worker
	Args     []string // after it, such as replay FILE
	Recorded bool     // whether other hooks answer as recorded; else the file is tried alone
	Stderr   io.Writer
}

// StartWorker starts the process of a policy. ctx ends it.
func StartWorker(ctx context.Context, o WorkerOptions) (*Worker, error) {
	cmd := exec.CommandContext(ctx, o.Program, o.Args...)
	cmd.Stderr = o.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = patience
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start hook-worker: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start hook-worker: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start hook-worker: %w", err)
	}
	w := &Worker{recorded: o.Recorded, cmd: cmd, stdin: stdin, done: make(chan struct{})}
	go w.read(bufio.NewReader(stdout))
	return w, nil
}

// Close ends the process and waits for it; one that goes on after the last question is
// killed.
func (w *Worker) Close() {
	defer w.end()()
	<-w.done
}

// end tells the process that nothing more is asked, and kills it after a while, unless
// the returned function is called before.
func (w *Worker) end() (ended func()) {
	_ = w.stdin.Close()
	kill := time.AfterFunc(patience, func() { _ = w.cmd.Process.Kill() })
	return func() { kill.Stop() }
}

// patience is how long a process may take to end.
const patience = 5 * time.Second

// Replay is a [Policy].
func (w *Worker) Replay(ctx context.Context, c *Chain) (Outcome, error) {
	ev := c.AsEvent()
	req := Request{Event: ev.Name, Session: ev.Session, ID: ev.ID, Source: ev.Source, Time: ev.Time, Data: ev.Data}
	if w.recorded {
		req.Recorded = c.Answers
	}
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(req); err != nil {
		return Outcome{}, fmt.Errorf("ask hook-worker: %w", err)
	}
	reply, err := w.send(line.Bytes())
	if err != nil {
		return Outcome{}, err
	}
	select {
	case r := <-reply:
		return r.outcome()
	case <-w.done:
	case <-ctx.Done():
		return Outcome{}, context.Cause(ctx)
	}
	select {
	case r := <-reply: // it came before the end
		return r.outcome()
	default:
		return Outcome{}, w.broken
	}
}

func (r Reply) outcome() (Outcome, error) {
	switch {
	case r.Refused != nil:
		return Outcome{}, r.Refused
	case r.Outcome == nil:
		return Outcome{}, errors.New("ask hook-worker: its answer says nothing: is it of another version?")
	}
	return *r.Outcome, nil
}

func (w *Worker) send(line []byte) (chan Reply, error) {
	w.asking.Lock()
	defer w.asking.Unlock()
	reply := make(chan Reply, 1)
	w.mu.Lock()
	w.waiting = append(w.waiting, reply)
	w.mu.Unlock()
	if _, err := w.stdin.Write(line); err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, os.ErrClosed) { // read says why it has ended
		return nil, fmt.Errorf("ask hook-worker: %w", err)
	}
	return reply, nil
}

// read hands the replies out.
func (w *Worker) read(out *bufio.Reader) {
	defer close(w.done)
	for {
		line, err := out.ReadBytes('\n')
		if err != nil { // it has ended
			break
		}
		if w.broken = w.hand(line); w.broken != nil {
			_ = w.cmd.Process.Kill()
			break
		}
	}
	ended := w.end()
	err := w.cmd.Wait()
	ended()
	switch {
	case w.broken != nil:
	case err != nil:
		w.broken = fmt.Errorf("hook-worker has ended: %w", err)
	default:
		w.broken = errors.New("hook-worker has ended")
	}
}

// hand gives a reply to whom it is for.
func (w *Worker) hand(line []byte) error {
	var r Reply
	if err := json.Unmarshal(line, &r); err != nil {
		return fmt.Errorf("read the answer of hook-worker: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting) == 0 {
		return errors.New("read the answer of hook-worker: nothing was asked")
	}
	w.waiting[0] <- r
	w.waiting = w.waiting[1:]
	return nil
}
