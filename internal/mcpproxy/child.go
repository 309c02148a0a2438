package mcpproxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Timeouts for the exit of a server, before it gets a signal and before it is killed.
const (
	afterInput  = 10 * time.Second // after the end of its input
	afterSignal = 5 * time.Second
	afterExit   = time.Second // to read the last output
	// Limits for open questions to the router after the client or the server is gone.
	lastCalls    = 5 * time.Second
	afterJudging = time.Minute
)

// child is a server that this process started. It leads a process group, which is killed when the
// server exits.
type child struct {
	cmd    *exec.Cmd
	input  io.WriteCloser
	lines  *sink
	output *os.File
	exited chan struct{}
}

// send relays one message. It is dropped if the server is gone.
func (c *child) send(m message) { c.lines.send(m.raw) }

// abandoned does nothing: the notification was sent to the server.
func (c *child) abandoned(string) {}

// startChild starts the server. It locks the caller's goroutine to its thread, so that the server
// is killed with this process.
func (p *Proxy) startChild() (*child, error) {
	cmd := exec.Command(p.options.Command[0], p.options.Command[1:]...) //nolint:noctx // the user's command; untilEnd ends it
	cmd.Env, cmd.Stderr, cmd.SysProcAttr = p.options.Env, p.options.Notes, attributes()
	cmd.WaitDelay = afterExit
	output, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	cmd.Stdout = w
	input, err := cmd.StdinPipe()
	if err == nil {
		runtime.LockOSThread()
		err = cmd.Start()
	}
	_ = w.Close()
	if err != nil {
		_ = output.Close()
		return nil, fmt.Errorf("start the server: %w", err)
	}
	c := &child{cmd: cmd, input: input, lines: newSink(input), output: output, exited: make(chan struct{})}
	go func() {
		defer close(c.exited)
		_ = cmd.Wait() // ProcessState has the result
	}()
	return c, nil
}

// runChild starts the server and relays messages until the client or the server is gone.
func (p *Proxy) runChild(ctx context.Context, stop func(), stdin io.Reader) (code int, err error) {
	c, err := p.startChild()
	if err != nil {
		return 0, err
	}
	p.server = c
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		p.readChild(ctx, c)
	}()
	asking, giveUp := context.WithCancel(ctx)
	defer giveUp()
	if signaled := p.untilEnd(ctx, c, p.readClient(asking, stdin), giveUp); signaled {
		stop()
	}
	_ = signalGroup(c.cmd.Process, syscall.SIGKILL) // processes that the server left running; usually none
	c.lines.close(0)
	select {
	case <-drained:
	case <-time.After(afterExit): // a process that left the group keeps the output open
		_ = c.output.Close()
		<-drained
	}
	late := time.AfterFunc(afterJudging, p.client.stop) // if the client does not read
	defer late.Stop()
	p.results.close()
	return exitCode(c.cmd.ProcessState), nil
}

// untilEnd waits until the server has exited, and ends it if the client is gone or a signal
// arrives.
func (p *Proxy) untilEnd(ctx context.Context, c *child, gone <-chan struct{}, giveUp func()) (signaled bool) {
	select {
	case <-c.exited:
		return false
	case s := <-p.options.Signals:
		c.end(s)
		return true
	case <-ctx.Done():
		c.end(syscall.SIGTERM)
		return true
	case <-p.client.ended: // the client no longer reads
		giveUp()
	case <-gone:
		late := time.AfterFunc(lastCalls, giveUp)
		p.calls.wait()
		late.Stop()
	}
	c.lines.close(afterExit)
	_ = c.input.Close()
	select {
	case <-c.exited:
		return false
	case s := <-p.options.Signals:
		c.end(s)
	case <-ctx.Done():
		c.end(syscall.SIGTERM)
	case <-time.After(afterInput):
		c.end(syscall.SIGTERM)
		return false
	}
	return true
}

// end sends a signal to the server's group, and kills it if it does not exit.
func (c *child) end(s os.Signal) {
	_ = signalGroup(c.cmd.Process, s) // the group may be gone
	select {
	case <-c.exited:
	case <-time.After(afterSignal):
		_ = signalGroup(c.cmd.Process, syscall.SIGKILL)
		<-c.exited
	}
}

func (p *Proxy) readChild(ctx context.Context, c *child) {
	lines := newLineReader(c.output)
	for {
		line, err := lines.next()
		switch {
		case errors.Is(err, errTooLong):
			p.note("dropped a message of the server that is longer than %d MiB", maxMessage>>20)
			continue
		case !blank(line):
			p.fromServer(ctx, line)
		}
		if err != nil {
			return
		}
	}
}
