package server

import (
	"context"
	"time"
)

const (
	floodHold = 30 * time.Second // how long an account that floods is refused
	maxFloods = 16               // reports that wait
)

// stopFloods disconnects the accounts of agents and people who flood the router, for everybody
// else's sake, until ctx ends. If a flood hides who sends it, the NATS server's counters say so:
// no message can blame somebody else.
func (n *Server) stopFloods(ctx context.Context) {
	for {
		select {
		case account := <-n.floods:
			accounts := []string{account}
			if account == "" {
				accounts = n.server.Loudest(ctx)
			}
			for _, account := range accounts {
				n.hold(account)
			}
		case <-ctx.Done():
			return
		}
	}
}

func (n *Server) hold(account string) {
	who, err := n.identities.Sender(account)
	if err != nil {
		return // the account of routers and workers
	}
	if err := n.server.Hold(account, floodHold); err != nil {
		n.log.Error("disconnecting a flood failed", "sender", who, "error", err)
		return
	}
	n.log.Warn("a flood is disconnected", "sender", who, "for", floodHold)
}
