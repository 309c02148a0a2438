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

// FilePolicyOptions configure how the hooks of a worker file decide recorded events.
type FilePolicyOptions struct {
	RunAll       bool // also call hooks with side effects, which then happen again
	Acting       bool // call them if they are replay_safe; the file is trusted with their side effects
	AsIfEnforced bool // treat hooks in mode shadow as enforced; otherwise they are left out
	WithRecorded bool // the hooks of the recorded chain answer too, as recorded
	// Without are the ids of hooks whose recorded answers are ignored.
	Without []string
}

// FilePolicy decides with the hooks of a worker file. It is safe for concurrent use.
type FilePolicy struct {
	hooks        *fileHooks
	withRecorded bool
	without      []string
}

// NewFilePolicy returns the policy of a file, which the caller closes. Events run concurrently, so
// the state that a builtin keeps between events is meaningless. Therefore only rules (CEL and Rego)
// and hooks that are replay_safe are called. Hooks with side effects also need
// [FilePolicyOptions.Acting].
func NewFilePolicy(file *workerfile.File, o FilePolicyOptions) *FilePolicy {
	hooks := newHooks(file, func(h workerfile.Hook) bool {
		return o.RunAll || h.Kind == "cel" || h.Kind == "rego" && !h.Acts || h.Registration.ReplaySafe && (o.Acting || !h.Acts)
	}, o.AsIfEnforced)
	return &FilePolicy{hooks, o.WithRecorded, o.Without}
}

// Calls reports whether a hook of the file is called, rather than only answering as recorded.
func (p *FilePolicy) Calls(id string) bool { return p.hooks.May(id) }

// Replay implements [Policy].
func (p *FilePolicy) Replay(ctx context.Context, c *Recording) (Outcome, error) {
	if p.withRecorded {
		return p.decide(ctx, c.asEvent(), slices.DeleteFunc(slices.Clone(c.Answers), func(a Answer) bool { return slices.Contains(p.without, a.ID) }))
	}
	return p.decide(ctx, c.asEvent(), nil)
}

// Decide returns the outcome of an event with only the hooks of the file. Its error is an
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
		running = kind.WithTime(running, at) // so that rules about the time answer as they would have then
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

// entries returns the hooks for an event: those of the file, and those of the recorded chain. Hooks
// in both take their recorded places, in the order of the file. Other hooks of the file come before
// the recorded ones if their priority is negative, and otherwise after them.
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
