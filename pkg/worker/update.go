package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/clientconn"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Update changes the registration of a hook or a contributor that this worker serves. The handler
// keeps getting calls, under the old or the new registration, so none is missed. When Update
// returns without an error, every router uses the new registration for later events.
//
// undo restores the old registration under the version of the new one, since routers accept no
// older version. If it returns an error, the renewals restore the old registration later.
//
// Update sets the registration's Instance. The error says that the registration is invalid, that no
// router answered, or that ctx ended. The old registration then stays in force, or is restored as
// by undo.
func (w *Worker) Update(ctx context.Context, reg chain.Registration) (undo func(context.Context) error, err error) {
	reg.Instance = w.instance
	if err := reg.Check(); err != nil {
		return nil, err
	}
	hook := w.answersFor(reg.ID)
	if hook == nil {
		return nil, fmt.Errorf("hook %q is not registered by this worker", reg.ID)
	}
	hook.announcing.Lock()
	defer hook.announcing.Unlock()
	old := hook.reg
	switch {
	case w.answersFor(reg.ID) != hook:
		return nil, fmt.Errorf("hook %q was unregistered meanwhile", reg.ID)
	case (len(old.Channels) > 0) != (len(reg.Channels) > 0):
		return nil, fmt.Errorf("hook %q: a hook can't become a contributor, nor a contributor a hook", reg.ID)
	}
	hook.reg = reg
	if err := w.announce(ctx, hook); err != nil {
		hook.reg = old
		if uncertain(err) {
			_ = w.putBack(ctx, hook, reg.Version)
		}
		return nil, err
	}
	return func(ctx context.Context) error {
		hook.announcing.Lock()
		defer hook.announcing.Unlock()
		if w.answersFor(reg.ID) != hook {
			return nil
		}
		hook.reg = old
		return w.putBack(ctx, hook, reg.Version)
	}, nil
}

// putBack registers hook.reg under the given version. It tries for one second, then leaves it to
// the renewals. The caller holds hook.announcing.
func (w *Worker) putBack(ctx context.Context, hook *registered, version string) error {
	hook.reg.Version = version
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	err := w.send(ctx, hook, clientconn.Never)
	if err != nil {
		w.setDue(hook, retryAfter)
	}
	return err
}

// answersFor returns the hook with this id, or nil unless a router has confirmed its registration.
func (w *Worker) answersFor(id string) *registered {
	w.mu.Lock()
	defer w.mu.Unlock()
	if hook := w.hooks[id]; hook != nil && !hook.due.IsZero() {
		return hook
	}
	return nil
}
