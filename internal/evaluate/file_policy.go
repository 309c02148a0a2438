package evaluate

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// FilePolicyOptions say how the hooks of a worker file decide recorded events.
type FilePolicyOptions struct {
	RunAll       bool // call hooks that act in the world too: what they do, they do again
	Acting       bool // call them where they are replay_safe; the file is trusted with what they do
	AsIfEnforced bool // hooks in mode shadow count as if they were enforced; else they are left out
	WithRecorded bool // the hooks of the recorded chain answer too, as they did
	// Without are ids of hooks whose recorded answers count for nothing.
	Without []string
}

// FilePolicy decides by the hooks of a worker file. It is safe for concurrent use.
type FilePolicy struct {
	hooks        *fileHooks
	withRecorded bool
	without      []string
}

// NewFilePolicy makes the policy of a file, which the caller closes. Events run at the
// same time here, so what a builtin remembers of other events counts for nothing: only
// rules, CEL and Rego, are called, and what is replay_safe. Hooks that act in the world also need
// [FilePolicyOptions.Acting].
func NewFilePolicy(file *workerfile.File, o FilePolicyOptions) *FilePolicy {
	hooks := newHooks(file, func(h workerfile.Hook) bool {
		return o.RunAll || h.Kind == "cel" || h.Kind == "rego" && !h.Acts || h.Registration.ReplaySafe && (o.Acting || !h.Acts)
	}, o.AsIfEnforced)
	return &FilePolicy{hooks, o.WithRecorded, o.Without}
}

// Calls reports whether a hook of the file is called, and does not only answer as recorded.
func (p *FilePolicy) Calls(id string) bool { return p.hooks.May(id) }

// Replay is a [Policy].
func (p *FilePolicy) Replay(ctx context.Context, c *Recording) (Outcome, error) {
	if p.withRecorded {
		return p.decide(ctx, c.asEvent(), slices.DeleteFunc(slices.Clone(c.Answers), func(a Answer) bool { return slices.Contains(p.without, a.ID) }))
	}
	return p.decide(ctx, c.asEvent(), nil)
}

// Decide says what the hooks of the file alone make of an event. Its error is an
// [*Undecided], or that of ctx.
func (p *FilePolicy) Decide(ctx context.Context, ev events.Event) (Outcome, error) {
	return p.decide(ctx, ev, nil)
}

func (p *FilePolicy) decide(ctx context.Context, ev events.Event, recorded []Answer) (Outcome, error) {
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	memory := newMemory(ev.Data, recorded)
	call := func(ctx context.Context, entry *chain.Entry, ev events.Event) (chain.Result, error) {
		switch {
		case entry.Hook != nil && p.hooks.May(entry.ID):
			return chain.InProcess(ctx, entry, ev)
		case memory.Knows(entry.ID):
			return memory.Call(ctx, entry, ev)
		}
		err := p.notReplayable(entry.ID)
		stop(err)
		return chain.Result{}, err
	}
	if at, err := time.Parse(time.RFC3339, ev.Time); err == nil {
		running = kind.WithTime(running, at) // so that a rule about the time says what it would have said
	}
	out, err := chain.Run(running, p.entries(ev, memory), ev, chain.Plan{Call: call, Until: time.Now().Add(chainTimeout)})
	switch undecided, ok := errors.AsType[*Undecided](err); {
	case ctx.Err() != nil:
		return Outcome{}, context.Cause(ctx)
	case ok:
		return Outcome{}, undecided
	case err != nil:
		return Outcome{}, &Undecided{Reason: "nothing was decided", Detail: err.Error()}
	}
	o := newOutcome(out, memory)
	o.Open = memory.Ended() != "" && !out.Result.Denied()
	return o, nil
}

func (p *FilePolicy) notReplayable(id string) *Undecided {
	if p.hooks.Lacks(id) {
		return &Undecided{Reason: "not replayable: " + id + " can't run on this machine and was not in the recorded chain"}
	}
	if h := p.hooks.files[id]; h.Acts && h.Registration.ReplaySafe {
		return &Undecided{Reason: "not replayable: " + id + " acts in the world and was not in the recorded chain (--policy-exec calls it)"}
	}
	return &Undecided{Reason: "not replayable: " + id + " runs a command, is not replay_safe and was not in the recorded chain (--run-all runs it)"}
}

// entries are the hooks that an event concerns: those of the file, and those of the
// recorded chain. The hooks that are in both have their recorded places, in the order of the file; the
// others of the file come before the recorded ones where their priority is negative, else after.
func (p *FilePolicy) entries(ev events.Event, memory *recordedAnswers) []*chain.Entry {
	recorded := memory.Entries()
	placed := map[string]bool{}
	for _, entry := range recorded {
		placed[entry.ID] = true
	}
	var first, both, last []*chain.Entry
	wanted := map[string]bool{}
	for _, entry := range p.hooks.Entries(ev.Name, ev.Session) {
		wanted[entry.ID] = true
		switch {
		case placed[entry.ID]:
			both = append(both, entry)
		case entry.Priority < 0:
			first = append(first, entry)
		default:
			last = append(last, entry)
		}
	}
	for _, entry := range recorded {
		if !p.hooks.Has(entry.ID) {
			first = append(first, entry)
		} else if wanted[entry.ID] {
			first, both = append(first, both[0]), both[1:]
		}
	}
	return append(first, last...)
}
