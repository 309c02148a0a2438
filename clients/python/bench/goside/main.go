// Command goside is the Go side of clients/python/bench. `goside hooks` answers for three
// hooks that let everything pass, `goside agent` sends events to them, and `goside both`
// does both over two connections, as one program with an agent and its hooks.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// hooks is how many hooks are in the chain.
const hooks = 3

func main() {
	runtime.GOMAXPROCS(1) // as docs/agents.md advises: events are sent one after the other
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "goside:", err)
		os.Exit(1)
	}
}

// run plays a role until standard input ends.
func run(ctx context.Context, args []string) error {
	if len(args) != 1 || (args[0] != "hooks" && args[0] != "agent" && args[0] != "both") {
		return fmt.Errorf("name a role: hooks, agent or both")
	}
	in := bufio.NewScanner(os.Stdin)
	if args[0] != "agent" {
		client, err := hookrouter.Connect(ctx, hookrouter.Options{URL: os.Getenv("NATS_URL"), Role: hookrouter.RoleWorker})
		if err != nil {
			return err
		}
		defer client.Close()
		w, err := serve(ctx, client)
		if err != nil {
			return err
		}
		defer func() { _ = w.Close(ctx) }()
	}
	if args[0] == "hooks" {
		fmt.Fprintln(os.Stdout, "ready")
		for in.Scan() {
		}
		return in.Err()
	}
	client, err := hookrouter.Connect(ctx, hookrouter.Options{URL: os.Getenv("NATS_URL")})
	if err != nil {
		return err
	}
	defer client.Close()
	return send(ctx, client, in)
}

func serve(ctx context.Context, client *hookrouter.Client) (*worker.Worker, error) {
	w, err := worker.New(client, worker.Options{})
	if err != nil {
		return nil, err
	}
	for i := range hooks {
		reg := worker.Registration{ID: fmt.Sprintf("go%d", i), Events: []string{events.ToolPre}, Priority: i}
		if _, err := w.Register(ctx, reg, func(context.Context, worker.Event) (worker.Result, error) { return worker.Continue() }); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// send reads the data of an event, and then, from each line, how many such events to send
// one after the other. It answers with their times in nanoseconds, as a line of JSON.
func send(ctx context.Context, client *hookrouter.Client, in *bufio.Scanner) error {
	a, err := agent.New(client, agent.Options{Session: "s1"})
	if err != nil {
		return err
	}
	in.Scan()
	data := map[string]any{}
	if err := json.Unmarshal(in.Bytes(), &data); err != nil {
		return fmt.Errorf("read the data: %w", err)
	}
	for in.Scan() {
		n, err := strconv.Atoi(in.Text())
		if err != nil {
			return err
		}
		took := make([]time.Duration, n)
		for i := range took {
			began := time.Now()
			answer, err := a.Emit(ctx, events.ToolPre, data)
			took[i] = time.Since(began)
			if err != nil {
				return err
			}
			if answer.Denied() || answer.Hooks != hooks {
				return fmt.Errorf("an event was denied, or %d hooks were called", answer.Hooks)
			}
		}
		if err := json.NewEncoder(os.Stdout).Encode(took); err != nil {
			return err
		}
	}
	return in.Err()
}
