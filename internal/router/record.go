package router

import (
	"cmp"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/policy/redact"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// publishEvent tells whoever watches that an event was taken, once, before the
// first of its hooks is called.
func (r *Router) publishEvent(a *arrival) {
	if a.told {
		return
	}
	a.told = true
	data := a.sent
	switch r.PublishData {
	case PublishRedacted:
		data, _ = redact.Object(data)
	case PublishNone:
		data = []byte("{}")
	}
	r.publish(a, r.bus.Event("event", a.Name), a.header, data)
}

func (r *Router) publish(a *arrival, subject string, h wire.Header, body []byte) {
	if err := r.bus.Publish(subject, h, body); err != nil {
		r.Log.WarnContext(a.trace.Context(), "could not publish for observers", "subject", subject, "error", err)
	}
}

// resultBody is the body of hooks.result.<event>: how a chain went, without data.
func (r *Router) resultBody(a *arrival, out chain.Outcome, asked *verdict.Approval) []byte {
	reason := out.Result.Reason
	if r.PublishData != PublishFull {
		reason, _ = redact.Text(reason)
	}
	w := events.NewObjectWriter(make([]byte, 0, 256+64*len(out.Calls)))
	w.String("chain_id", a.chainID)
	w.String("event_id", a.ID)
	w.String("session_id", a.Session)
	w.String("event", a.Name)
	w.String("action", string(out.Result.Action))
	w.Text("reason", reason)
	w.Text("denied_by", out.DeniedBy)
	w.Objects("hooks", len(out.Calls), func(i int, w *events.ObjectWriter) {
		hop := out.Calls[i]
		action := hop.Result.Action
		if hop.Failure == "" && action == "" {
			action = chain.Continue
		}
		w.String("id", hop.Entry.ID)
		w.Text("action", string(action))
		w.Int("us", hop.Took.Microseconds())
		w.Text("failure", string(hop.Failure))
		w.Flag("failed_open", hop.FailedOpen)
	})
	if asked != nil {
		w.Text("approval_id", asked.ID)
	}
	return w.End()
}

// masked is an error as a log line may hold it: what a hook says may quote the data.
func (r *Router) masked(err error) string {
	if err == nil {
		return ""
	}
	return r.audit.View().Masked(err.Error())
}

// log writes a line for an event, and one for each hook that failed. They name its
// trace.
func (r *Router) log(a *arrival, err error) {
	ctx := a.trace.Context()
	for i := range a.out.Calls {
		if hop := &a.out.Calls[i]; hop.Failure != "" {
			r.Log.WarnContext(ctx, "a hook failed", "hook", hop.Entry.ID, "event", a.Name, "session", a.Session, "chain", a.chainID,
				"failure", hop.Failure, "failed_open", hop.FailedOpen, "error", r.masked(hop.Err))
		}
	}
	if !r.Log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	line := slog.NewRecord(time.Now(), slog.LevelInfo, "event", 0) // not where it is written: that is known
	line.AddAttrs(slog.String("event", a.Name), slog.String("session", a.Session), slog.String("chain", a.chainID))
	if err != nil {
		line.AddAttrs(slog.Int("refused", wire.FromError(err).Code))
	} else {
		line.AddAttrs(slog.String("action", cmp.Or(a.action, string(a.out.Result.Action))))
	}
	called := len(a.answers)
	for i := range a.out.Calls {
		if a.out.Calls[i].Called() {
			called++
		}
	}
	line.AddAttrs(slog.Int("hooks", called))
	if a.out.DeniedBy != "" {
		line.AddAttrs(slog.String("denied_by", a.out.DeniedBy))
	}
	_ = r.Log.Handler().Handle(ctx, line)
}

// counts is what the router counts besides requests; discovery shows it.
type counts struct {
	shadow, shadowDropped atomic.Int64
	failedOpen            atomic.Int64
	failures              sync.Map // chain.Failure → *atomic.Int64
}

func (c *counts) hops(hops []chain.Call) {
	for _, hop := range hops {
		if hop.Failure == "" {
			continue
		}
		n, _ := c.failures.LoadOrStore(hop.Failure, new(atomic.Int64))
		n.(*atomic.Int64).Add(1)
		if hop.FailedOpen {
			c.failedOpen.Add(1)
		}
	}
}

func (c *counts) data() any {
	data := map[string]int64{
		"shadow": c.shadow.Load(), "shadow_dropped": c.shadowDropped.Load(), "failed_open": c.failedOpen.Load(),
	}
	c.failures.Range(func(class, n any) bool {
		data["failed_"+string(class.(chain.Failure))] = n.(*atomic.Int64).Load()
		return true
	})
	return data
}

// shadowLimit is how many shadow calls may be under way.
const shadowLimit = 256

// beside runs what is not waited for, at most so much at once.
type beside struct {
	slots natsx.Limiter
	wg    sync.WaitGroup
}

// start runs do in a goroutine of its own, unless too many are under way.
func (b *beside) start(do func()) bool {
	select {
	case b.slots <- struct{}{}:
	default:
		return false
	}
	b.wg.Go(func() {
		defer func() { <-b.slots }()
		do()
	})
	return true
}

func (b *beside) wait() { b.wg.Wait() }
