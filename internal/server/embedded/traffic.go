package embedded

import (
	"context"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

const (
	sample       = 250 * time.Millisecond
	loudMessages = 5000     // a second
	loudBytes    = 32 << 20 // a second
	maxRead      = 4096     // connections
)

// Loudest lists the accounts that send more than 5,000 messages or 32 MiB a second, and at least
// half as much as the one that sends most. It looks for a quarter of a second, or until ctx ends.
func (s *Server) Loudest(ctx context.Context) (accounts []string) {
	before := map[uint64]server.ConnInfo{}
	for _, c := range s.connections(server.ByInMsgs) {
		before[c.Cid] = *c
	}
	select {
	case <-time.After(sample):
	case <-ctx.Done():
		return nil
	}
	sent, most := map[string]float64{}, sample.Seconds()
	for _, c := range s.connections(server.ByInMsgs) {
		messages, bytes := c.InMsgs-before[c.Cid].InMsgs, c.InBytes-before[c.Cid].InBytes
		sent[c.Account] += max(float64(messages)/loudMessages, float64(bytes)/loudBytes)
	}
	for _, n := range sent {
		most = max(most, n)
	}
	for account, n := range sent {
		if n >= sample.Seconds() && 2*n >= most {
			accounts = append(accounts, account)
		}
	}
	return accounts
}

// Pending returns how many bytes wait in the server for the clients of each account to read them,
// and how many of them for the connection with the given id.
func (s *Server) Pending(connection uint64) (accounts map[string]int64, own int64) {
	accounts = map[string]int64{}
	for _, c := range s.connections(server.ByPending) {
		accounts[c.Account] += int64(c.Pending)
		if c.Cid == connection {
			own = int64(c.Pending)
		}
	}
	return accounts, own
}

// Listens reports whether anybody in the routers' account listens on a subject.
func (s *Server) Listens(subject string) bool {
	account, err := s.LookupAccount(s.bus)
	return err == nil && account.SubscriptionInterest(subject)
}

// connections lists the server's connections, sorted, and at most the first maxRead of them.
func (s *Server) connections(by server.SortOpt) []*server.ConnInfo {
	list, err := s.Connz(&server.ConnzOptions{Username: true, Limit: maxRead, Sort: by})
	if err != nil {
		return nil
	}
	return list.Conns
}
