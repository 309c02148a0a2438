package router

import (
	"context"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// attendance is how often a replica looks whether it is ready.
const attendance = 100 * time.Millisecond

// agentEndpoints are what agents ask on.
func (r *Router) agentEndpoints() []natsx.Endpoint {
	list := []natsx.Endpoint{
		{Name: "emit", Subject: r.bus.Of("emit", ">"), Handle: r.emit, Data: r.counts.data},
		{Name: "execute", Subject: r.bus.Of("execute", ">"), Handle: r.execute},
		{Name: "collect", Subject: r.bus.Of("collect", ">"), Handle: r.collect},
		{Name: "contributions", Subject: r.bus.Of("contributions", ">"), Handle: r.contributions},
	}
	for i := range list {
		list[i].Limiter, list[i].Queue = r.slots, r.bus.QueueGroup()
		list[i].OnError = r.refusals(list[i].Name)
	}
	return list
}

// listen joins the queue groups in which replicas answer agents.
func (r *Router) listen(service *natsx.Service) error {
	for _, e := range r.agents {
		remove, err := service.Add(e)
		if err != nil {
			r.leaveAll()
			return err
		}
		r.leave = append(r.leave, remove)
	}
	return nil
}

// leaveAll leaves them.
func (r *Router) leaveAll() {
	for _, remove := range r.leave {
		remove()
	}
	r.leave = nil
}

// attend leaves the queue groups while this replica is not ready, so that another one
// answers, or NATS says at once that nobody does; and joins them again. What workers
// and operators ask is answered all the time.
func (r *Router) attend(ctx context.Context, service *natsx.Service) {
	tick := time.NewTicker(attendance)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		switch why := r.Ready(); {
		case why != nil && r.leave != nil && r.bus.Connected():
			r.leaveAll()
			r.Log.Warn("not ready: agents are left to other replicas", "reason", why)
		case why == nil && r.leave == nil:
			if err := r.listen(service); err != nil {
				r.Log.Error("could not listen to agents again, trying again", "error", err)
				continue
			}
			r.Log.Info("ready again: listening to agents")
		}
	}
}
