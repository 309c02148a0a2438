package server

import (
	"context"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/identity"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
)

const (
	floodHold       = 30 * time.Second       // how long an account that floods is refused
	maxFloods       = 16                     // reports that wait
	pendingInterval = 500 * time.Millisecond // between two checks of what the server keeps
	maxUnread       = 32 << 20               // bytes of answers that an agent may leave unread, at two checks in a row
	maxBacklog      = 32 << 20               // bytes of requests that the router has not read; at 64 MiB the server disconnects it
)

// stopFloods disconnects agents, people and workers that flood the router, until ctx ends. If a
// flood hides its sender, the NATS server's counters identify it, so that no message can put the
// blame on another sender.
func (n *Server) stopFloods(ctx context.Context) {
	defer n.requests.OnReconnect(func() { n.flooded("") })() // perhaps because of its backlog
	tick := time.NewTicker(pendingInterval)
	defer tick.Stop()
	unread := map[string]bool{}
	for {
		select {
		case account := <-n.floods:
			if account == "" {
				n.holdLoudest(ctx)
			} else {
				n.hold(embedded.Sender{Account: account}, "it sends more than the router can answer")
			}
		case <-tick.C:
			unread = n.checkPending(ctx, unread)
		case <-ctx.Done():
			return
		}
	}
}

// flooded reports an account that floods; empty if it is unknown. It does not block.
func (n *Server) flooded(account string) {
	select {
	case n.floods <- account:
	default: // the flood continues, and is reported again
	}
}

// checkPending disconnects clients that fill the server's memory: senders of requests that arrive
// faster than the router reads them, and agents that do not read their answers. before holds the
// accounts of agents that exceeded maxUnread at the last check.
func (n *Server) checkPending(ctx context.Context, before map[string]bool) (unread map[string]bool) {
	unread = map[string]bool{}
	id, _ := n.requests.Conn().GetClientID() // 0 while it is disconnected
	accounts, backlog := n.server.Pending(id)
	if backlog > maxBacklog {
		n.holdLoudest(ctx)
	}
	for account, bytes := range accounts {
		switch {
		case bytes <= maxUnread || !n.isAgent(account):
		case before[account]:
			n.hold(embedded.Sender{Account: account}, "it does not read its answers")
		default:
			unread[account] = true
		}
	}
	return unread
}

func (n *Server) isAgent(account string) bool {
	who, err := n.identities.Sender(account)
	return err == nil && strings.HasPrefix(who, string(identity.Agent)+"/")
}

func (n *Server) holdLoudest(ctx context.Context) {
	may := func(who embedded.Sender) bool { _, ok := n.mayHold(who); return ok }
	for _, who := range n.server.Loudest(ctx, may) {
		n.hold(who, "it sends more than the router can read")
	}
}

func (n *Server) hold(who embedded.Sender, reason string) {
	label, ok := n.mayHold(who)
	if !ok {
		return
	}
	if err := n.server.Hold(who, floodHold); err != nil {
		n.log.Error("flooding sender not disconnected", "sender", label, "error", err)
		return
	}
	n.log.Warn("flooding sender disconnected", "sender", label, "reason", reason, "for", floodHold)
}

// mayHold returns the label of a sender that may be disconnected: one with an account of its own, or
// a worker.
func (n *Server) mayHold(who embedded.Sender) (label string, ok bool) {
	if who.User == "" {
		label, err := n.identities.Sender(who.Account)
		return label, err == nil
	}
	return n.identities.Worker(who.User)
}
