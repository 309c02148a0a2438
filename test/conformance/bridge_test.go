package conformance

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// envBridge makes the test's own program the bridge to pkg/worker.
const envBridge = "HOOKROUTER_TEST_BRIDGE"

// lane is one prefix of the bridge.
type lane struct {
	worker *worker.Worker
	mu     sync.Mutex // guards quiet, and how often a hook was called
	quiet  bool
}

// newLane connects a lane; the end of the process disconnects it.
func newLane(ctx context.Context, url, prefix string) (*lane, error) {
	client, err := hookrouter.Connect(ctx, hookrouter.Options{URL: url, Prefix: prefix, Role: hookrouter.RoleWorker})
	if err != nil {
		return nil, err
	}
	w, err := worker.New(client, worker.Options{})
	return &lane{worker: w}, err
}

// bridge runs scripted hooks with pkg/worker, as [Hooks] says.
func bridge(ctx context.Context, url string, in io.Reader, out io.Writer) error {
	lanes := map[string]*lane{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	var writing sync.Mutex
	for lines.Scan() {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return err
		}
		l := lanes[c.Prefix]
		if l == nil {
			var err error
			if l, err = newLane(ctx, url, c.Prefix); err != nil {
				return err
			}
			lanes[c.Prefix] = l
		}
		go func() {
			answer := map[string]any{"n": c.N}
			if err := l.do(ctx, c); err != nil {
				answer["error"] = err.Error()
			}
			writing.Lock()
			defer writing.Unlock()
			_, _ = fmt.Fprintf(out, "%s\n", encode(answer))
		}()
	}
	return lines.Err()
}

// command is one line that the bridge reads.
type command struct {
	N            int                 `json:"n"`
	Op           string              `json:"op"`
	Prefix       string              `json:"prefix"`
	ID           string              `json:"id"`
	On           bool                `json:"on"`
	Registration worker.Registration `json:"registration"`
	Behavior     Behavior            `json:"behavior"`
}

func (l *lane) do(ctx context.Context, c command) error {
	switch c.Op {
	case "register":
		var err error
		if len(c.Registration.Channels) > 0 {
			_, err = l.worker.RegisterContributor(ctx, c.Registration, l.contributor(c.Behavior))
		} else {
			_, err = l.worker.Register(ctx, c.Registration, l.handler(c.Behavior))
		}
		return err
	case "unregister":
		return l.worker.Retire(ctx, c.ID)
	case "quiet":
		l.mu.Lock()
		defer l.mu.Unlock()
		l.quiet = c.On
		return nil
	}
	return fmt.Errorf("unknown op %q", c.Op)
}

// next is what a hook does with its next call; an unscripted one where it is quiet.
func (l *lane) next(ctx context.Context, b Behavior, served *int) Behavior {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.quiet || worker.CallFrom(ctx).Mode == chain.Observe {
		return Behavior{}
	}
	*served++
	return b.at(*served - 1)
}

func (l *lane) handler(b Behavior) worker.Handler {
	served := 0
	return func(ctx context.Context, ev worker.Event) (worker.Result, error) {
		reply, err := l.reply(ctx, b, &served, ev.Data)
		if err != nil {
			return worker.Result{}, err
		}
		return chain.ParseResult(reply)
	}
}

func (l *lane) contributor(b Behavior) worker.Contributor {
	served := 0
	return func(ctx context.Context, _ string) (any, error) {
		reply, err := l.reply(ctx, b, &served, []byte("{}"))
		return json.RawMessage(reply), err
	}
}

func (l *lane) reply(ctx context.Context, b Behavior, served *int, data []byte) ([]byte, error) {
	now := l.next(ctx, b, served)
	if err := wait(ctx, time.Duration(now.SleepMS)*time.Millisecond); err != nil {
		return nil, err
	}
	a, err := now.answer(data)
	if err == nil && a.fails {
		err = errors.New(a.cause)
	}
	return a.body, err
}
