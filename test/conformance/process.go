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

// maxLine bounds a line of a bridge.
const maxLine = 16 << 20

// process is a bridge to a client library. It reads commands, one JSON object a line, and
// answers each with a line of the same n, in any order. It finds the NATS server in
// NATS_URL and ends when its input does.
type process struct {
	command *exec.Cmd
	in      io.WriteCloser
	ended   chan struct{} // closed when its output has ended

	mu      sync.Mutex // guards what follows, and writing
	next    int
	waiting map[int]chan<- reply
}

// reply is a line of a bridge.
type reply struct {
	N      int             `json:"n"`
	Error  string          `json:"error"`
	Result json.RawMessage `json:"result"` // of an agent
}

func start(ctx context.Context, url string, command ...string) (*process, error) {
	p := &process{command: exec.CommandContext(ctx, command[0], command[1:]...), ended: make(chan struct{}), waiting: map[int]chan<- reply{}}
	p.command.Env = append(os.Environ(), "NATS_URL="+url)
	p.command.Stderr = os.Stderr
	var err error
	if p.in, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("start the bridge: %w", err)
	}
	go p.read(out)
	return p, nil
}

// read hands answers to who waits for them.
func (p *process) read(out io.Reader) {
	defer close(p.ended)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var answer reply
		if err := json.Unmarshal(lines.Bytes(), &answer); err != nil {
			fmt.Fprintf(os.Stderr, "the bridge: no answer: %s\n", lines.Bytes())
			continue
		}
		p.mu.Lock()
		waiting := p.waiting[answer.N]
		delete(p.waiting, answer.N)
		p.mu.Unlock()
		if waiting != nil {
			waiting <- answer
		}
	}
}

// ask sends a command and waits for its answer.
func (p *process) ask(ctx context.Context, op, prefix string, members map[string]any) (reply, error) {
	answer := make(chan reply, 1)
	if err := p.send(op, prefix, members, answer); err != nil {
		return reply{}, fmt.Errorf("%s: tell the bridge: %w", op, err)
	}
	select {
	case got := <-answer:
		if got.Error != "" {
			return reply{}, fmt.Errorf("%s: %s", op, got.Error)
		}
		return got, nil
	case <-p.ended:
		return reply{}, fmt.Errorf("%s: the bridge has ended", op)
	case <-ctx.Done():
		return reply{}, fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
}

func (p *process) send(op, prefix string, members map[string]any, answer chan<- reply) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next++
	p.waiting[p.next] = answer
	line := map[string]any{"n": p.next, "op": op, "prefix": prefix}
	maps.Copy(line, members)
	_, err := p.in.Write(append(encode(line), '\n'))
	return err
}

// Close ends the bridge: its input ends, and it is waited for.
func (p *process) Close() error {
	err := p.in.Close()
	<-p.ended
	return errors.Join(err, p.command.Wait())
}
