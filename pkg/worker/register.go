package worker

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/clientconn"
	"github.com/hookrouter/hookrouter/internal/natsx/service"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

// registered is a hook that this worker serves.
type registered struct {
	id       string
	order    uint64    // of registration with this worker, from 1
	remove   func()    // stops listening
	due      time.Time // of the next renewal; zero until a router confirmed the registration
	renewing bool      // a renewal is in flight or about to start

	// announcing is held while the worker sends routers a message about the hook, so that a renewal
	// never overtakes its removal or an update. It guards reg and replacedBy, once a router
	// confirmed the registration.
	announcing sync.Mutex
	reg        chain.Registration
	replacedBy string // content of the last reported registration in force; empty if it is this worker's
}

func (w *Worker) register(ctx context.Context, reg chain.Registration, handle handlerFunc) (func(context.Context) error, error) {
	reg.Instance = w.instance
	if err := reg.Check(); err != nil {
		return nil, err
	}
	hook := &registered{id: reg.ID, reg: reg}
	if !w.reserve(hook) {
		return nil, fmt.Errorf("hook %q is registered by this worker already", reg.ID)
	}
	handle, unsubscribe, err := w.cancelable(reg, handle)
	if err != nil {
		w.forget(hook)
		return nil, err
	}
	remove, err := w.service.Add(service.Endpoint{
		Name: reg.ID, Subject: w.conn.Transport.Call(reg.ID), Queue: reg.ID,
		Limiter: service.NewLimiter(w.maxInFlight), Wait: true, Handle: handle,
	})
	if err != nil {
		w.forget(hook)
		unsubscribe()
		return nil, err
	}
	hook.remove = func() { remove(); unsubscribe() }
	if err := w.announce(ctx, hook); err != nil {
		if uncertain(err) {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_ = w.leave(ctx, hook.id) // best effort
		}
		w.forget(hook) // not earlier: leave must not remove a new hook of this id
		hook.remove()
		return nil, err
	}
	return func(ctx context.Context) error { return w.unregister(ctx, hook) }, nil
}

// announceTimeout bounds a registration if its context does not.
const announceTimeout = 15 * time.Second

// announce registers a hook and schedules its renewal. It retries until ctx ends while no router
// answers.
func (w *Worker) announce(ctx context.Context, hook *registered) error {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, announceTimeout)
		defer cancel()
	}
	return w.send(ctx, hook, clientconn.Idempotent)
}

// send registers or renews a hook and schedules its next renewal.
func (w *Worker) send(ctx context.Context, hook *registered, retry clientconn.Retry) error {
	var reply struct {
		TTLMS   int64         `json:"ttl_ms"`
		InForce *Registration `json:"in_force"`
	}
	reg := hook.reg
	reg.Protocol = max(reg.Protocol, chain.ProtocolEcho)
	if err := w.request(ctx, "register", hook.id, retry, reg, &reply); err != nil {
		return fmt.Errorf("register hook %s: %w", hook.id, err)
	}
	ttl := time.Duration(max(reply.TTLMS, 30)) * time.Millisecond
	w.setDue(hook, ttl/3)
	w.checkInForce(hook, reply.InForce)
	return nil
}

// uncertain reports whether a failed registration may have been stored.
func uncertain(err error) bool {
	code := hookrouter.CodeOf(err)
	return code == 0 || code >= hookrouter.CodeOverloaded // an earlier try may have been stored
}

// checkInForce reports, once, that the routers use another registration of the hook than this
// worker's. inForce is nil if they use this worker's.
func (w *Worker) checkInForce(hook *registered, inForce *Registration) {
	content := ""
	if inForce != nil {
		content = inForce.Content()
	}
	if content == hook.replacedBy {
		return
	}
	hook.replacedBy = content
	if inForce == nil {
		w.conn.Log.Info("registration is in force again", "hook", hook.id)
		return
	}
	w.conn.Log.Error("registration replaced by another; this worker's does not hold", "hook", hook.id,
		"version", hook.reg.Version, "in_force_version", inForce.Version, "in_force_mode", inForce.Mode, "in_force_events", inForce.Events,
		"in_force_on_failure", inForce.OnFailure, "in_force_match", inForce.Match)
	if w.onReplaced != nil {
		w.onReplaced(hook.id, *inForce)
	}
}

// reserve claims the hook's id, and reports whether it was free.
func (w *Worker) reserve(hook *registered) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.hooks[hook.id] != nil {
		return false
	}
	w.next++
	hook.order = w.next
	w.hooks[hook.id] = hook
	return true
}

// forget releases the hook's id, and reports whether the hook still held it.
func (w *Worker) forget(hook *registered) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.hooks[hook.id] != hook {
		return false
	}
	delete(w.hooks, hook.id)
	return true
}

func (w *Worker) unregister(ctx context.Context, hook *registered) error {
	if !w.forget(hook) {
		return nil
	}
	hook.announcing.Lock()
	defer hook.announcing.Unlock()
	err := w.leave(ctx, hook.id)
	w.silence(hook)
	return err
}

// silence stops listening for a hook. When it returns, the NATS server has processed that, unless
// it can't be reached.
func (w *Worker) silence(hook *registered) {
	hook.remove()
	if w.conn.Transport.Connected() {
		_ = w.conn.Transport.Conn().FlushTimeout(time.Second)
	}
}

// leave tells the routers that this worker no longer serves a hook.
func (w *Worker) leave(ctx context.Context, id string) error {
	return w.request(ctx, "unregister", id, clientconn.Never, map[string]string{"instance": w.instance}, nil)
}

// request sends a request about a hook to a router and decodes the reply into reply unless that is
// nil.
func (w *Worker) request(ctx context.Context, verb, id string, retry clientconn.Retry, body, reply any) error {
	_, err := w.conn.RequestJSON(ctx, clientconn.Request{Subject: w.conn.Transport.Of(verb, id), Retry: retry}, body, reply)
	return err
}
