package conformance

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"sync"
)

// Hooks is a process that runs scripted hooks with a client library: a bridge. It reads
// commands, one JSON object a line, and answers each with a line:
//
//	{"n":1,"op":"register","prefix":"lane0","registration":{"id":…,"events":[…]},"behavior":{…}}
//	{"n":2,"op":"quiet","prefix":"lane0","on":true}
//	{"n":3,"op":"unregister","prefix":"lane0","id":"…"}
//
//	{"n":1}
//	{"n":2,"error":"what went wrong"}
//
// Answers may come in any order. The library registers the hook or the contributor, calls
// the bridge's handler, and checks and sends what that returns. After register the router
// calls the hook, after unregister it is off the bus, durable or not. While it is quiet,
// hooks of that prefix answer null and count nothing; calls as observe never count. The
// bridge finds the NATS server in NATS_URL and ends when its input does.
type Hooks struct {
	command *exec.Cmd
	in      io.WriteCloser
	ended   chan struct{} // closed when its output has ended

	mu      sync.Mutex // guards what follows, and writing
	next    int
	waiting map[int]chan<- string // gets the error, empty for none
}

// StartHooks starts a bridge that connects to the server at url. Close it.
func StartHooks(ctx context.Context, url string, command ...string) (*Hooks, error) {
	h := &Hooks{command: exec.CommandContext(ctx, command[0], command[1:]...), ended: make(chan struct{}), waiting: map[int]chan<- string{}}
	h.command.Env = append(os.Environ(), "NATS_URL="+url)
	h.command.Stderr = os.Stderr
	var err error
	if h.in, err = h.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := h.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := h.command.Start(); err != nil {
		return nil, fmt.Errorf("start the process of the hooks: %w", err)
	}
	go h.read(out)
	return h, nil
}

// read hands answers to who waits for them.
func (h *Hooks) read(out io.Reader) {
	defer close(h.ended)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var answer struct {
			N     int    `json:"n"`
			Error string `json:"error"`
		}
		if err := json.Unmarshal(lines.Bytes(), &answer); err != nil {
			fmt.Fprintf(os.Stderr, "the process of the hooks: no answer: %s\n", lines.Bytes())
			continue
		}
		h.mu.Lock()
		waiting := h.waiting[answer.N]
		delete(h.waiting, answer.N)
		h.mu.Unlock()
		if waiting != nil {
			waiting <- answer.Error
		}
	}
}

// do sends a command and waits for its answer.
func (h *Hooks) do(ctx context.Context, op, prefix string, members map[string]any) error {
	answer := make(chan string, 1)
	if err := h.send(op, prefix, members, answer); err != nil {
		return fmt.Errorf("%s: tell the process of the hooks: %w", op, err)
	}
	select {
	case text := <-answer:
		if text != "" {
			return fmt.Errorf("%s: %s", op, text)
		}
		return nil
	case <-h.ended:
		return fmt.Errorf("%s: the process of the hooks has ended", op)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
}

func (h *Hooks) send(op, prefix string, members map[string]any, answer chan<- string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next++
	h.waiting[h.next] = answer
	line := map[string]any{"n": h.next, "op": op, "prefix": prefix}
	maps.Copy(line, members)
	_, err := h.in.Write(append(encode(line), '\n'))
	return err
}

// Close ends the process: its input ends, and it is waited for.
func (h *Hooks) Close() error {
	err := h.in.Close()
	<-h.ended
	return errors.Join(err, h.command.Wait())
}
