package main

import (
	"context"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

const partPolicies = "policies"

// Events with one hook each: in Go, in CEL, and in Python.
const (
	eventEmpty = "bench:empty"
	eventRules = "bench:rules"
	eventExec  = "bench:resident"
)

// rulesFile is a policy of typical size. None of its rules matches the data of the bench, so all
// are evaluated.
const rulesFile = `
hooks:
  - id: rules
    events: ["bench:rules"]
    cel:
      rules:
        - when: tool.class == 'shell' && tool.command.contains('rm -rf')
          deny: "{{ tool.command }} is not for agents"
        - when: tool.class == 'file' && tool.paths.exists(p, p.startsWith('/etc/'))
          deny: "{{ tool.path }} belongs to the system"
        - when: has(data.tool_input.file_path) && data.tool_input.file_path.endsWith('.env')
          ask: {prompt: "Write {{ data.tool_input.file_path }}?"}
  - id: resident
    events: ["bench:resident"]
    exec: {command: [python3, -c, "` + loopInPython + `"], resident: true}
`

// loopInPython is the simplest resident hook.
const loopInPython = `import json, sys\nfor line in sys.stdin:\n    call = json.loads(line)\n    print(json.dumps({'id': call['id'], 'result': None}), flush=True)`

// policies compares a hook of CEL rules and a resident Python program with an empty Go hook. All
// are in one worker, and the time is from router to worker and back.
func (b *bench) policies(ctx context.Context) error {
	if _, err := b.spawn(ctx, "worker", "worker", "-nats", b.conn.ConnectedUrl(), "-prefix", prefixRouter); err != nil {
		return err
	}
	empty := newArm("a hook in Go", prefixRouter, eventEmpty, 1)
	got, err := b.compare(ctx, 1, empty, newArm("a hook in CEL", prefixRouter, eventRules, 1), newArm("a resident hook in Python", prefixRouter, eventExec, 1), empty)
	if err != nil {
		return err
	}
	b.report.addBeside(figure{
		Name: "a hook of 3 rules in CEL, p50 over an empty one in Go", Unit: "x",
		Value: medianRatio(p50s(got[1]), p50s(got[0])), Most: 1.15, Note: "router to worker and back, one in flight",
	}, medianRatio(p50s(got[0]), p50s(got[3])))
	b.report.addBeside(figure{
		Name: "a resident hook in Python, p50 over an empty one in Go", Unit: "x",
		Value: medianRatio(p50s(got[2]), p50s(got[0])), Most: 1.5, Note: "a plain loop, one in flight",
	}, medianRatio(p50s(got[0]), p50s(got[3])))
	return nil
}

// workerRole runs the worker with these hooks.
func workerRole(ctx context.Context, o options, ready readyFunc) error {
	client, err := hookrouter.Connect(ctx, hookrouter.Options{URL: o.nats, Prefix: o.prefix})
	if err != nil {
		return err
	}
	defer client.Close()
	w, err := worker.New(client, worker.Options{})
	if err != nil {
		return err
	}
	nothing := func(context.Context, worker.Event) (worker.Result, error) { return worker.Continue() }
	if _, err := w.Register(ctx, chain.Registration{ID: "empty", Events: []string{eventEmpty}}, nothing); err != nil {
		return err
	}
	file, err := workerfile.Parse("rules.yaml", []byte(rulesFile), kinds.All(kind.Worker{}))
	if err != nil {
		return err
	}
	defer file.Close()
	for _, h := range file.Hooks {
		if _, err := w.Register(ctx, h.Registration, h.Handler); err != nil {
			return err
		}
	}
	ready("")
	return w.Run(ctx)
}
