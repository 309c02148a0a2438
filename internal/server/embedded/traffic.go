package embedded

import (
	"context"
	"maps"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
)

const (
	sample       = 250 * time.Millisecond
	loudMessages = 5000     // per second
	loudBytes    = 32 << 20 // per second
	maxRead      = 4096     // connections
)

// Sender is an account, or a user of the routers' account, which workers share.
type Sender struct {
	Account string
	User    string // public key; empty for all users of the account
}

// Loudest returns the senders, among those for which may returns true, of more than 5,000 messages
// or 32 MiB per second that send at least half as much as the one that sends most. For users of the
// routers' account, what they received is subtracted, since they may have answered it. It samples
// for a quarter of a second, or until ctx ends.
func (s *Server) Loudest(ctx context.Context, may func(Sender) bool) (senders []Sender) {
	before := map[uint64]server.ConnInfo{}
	for _, c := range s.connections(server.ByInMsgs) {
		before[c.Cid] = *c
	}
	select {
	case <-time.After(sample):
	case <-ctx.Done():
		return nil
	}
	sent, most := map[Sender]float64{}, sample.Seconds()
	for _, c := range s.connections(server.ByInMsgs) {
		was := before[c.Cid]
		messages, bytes := c.InMsgs-was.InMsgs, c.InBytes-was.InBytes
		if c.Account == s.bus {
			messages, bytes = messages-(c.OutMsgs-was.OutMsgs), bytes-(c.OutBytes-was.OutBytes)
		}
		if loud := max(float64(messages)/loudMessages, float64(bytes)/loudBytes); loud > 0 {
			sent[s.sender(c)] += loud
		}
	}
	maps.DeleteFunc(sent, func(who Sender, _ float64) bool { return !may(who) })
	for _, n := range sent {
		most = max(most, n)
	}
	for who, n := range sent {
		if n >= sample.Seconds() && 2*n >= most {
			senders = append(senders, who)
		}
	}
	return senders
}

// sender returns the sender that owns a connection. The server verified the JWT; everything else
// that a client says about its user is a claim.
func (s *Server) sender(c *server.ConnInfo) Sender {
	who := Sender{Account: c.Account}
	if c.Account != s.bus {
		return who
	}
	if claims, err := jwt.DecodeUserClaims(c.JWT); err == nil {
		who.User = claims.Subject
	}
	return who
}

// Pending returns, in bytes, how much data waits in the server to be read by the clients of each
// account, and by the connection with the given id.
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

// Listens reports whether there is a subscription to a subject in the routers' account.
func (s *Server) Listens(subject string) bool {
	account, err := s.LookupAccount(s.bus)
	return err == nil && account.SubscriptionInterest(subject)
}

// connections returns at most the first maxRead of the server's connections, sorted.
func (s *Server) connections(by server.SortOpt) []*server.ConnInfo {
	list, err := s.Connz(&server.ConnzOptions{Username: true, Limit: maxRead, Sort: by})
	if err != nil {
		return nil
	}
	return list.Conns
}
