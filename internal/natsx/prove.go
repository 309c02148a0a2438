package natsx

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/nats-io/nkeys"

	"github.com/hookrouter/hookrouter/internal/natscreds"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// ErrImpostor means that the program that answers is not the router that issued the credentials.
var ErrImpostor = errors.New("the program that answers is not the router that issued these credentials: another program may have taken its port")

// proofText returns the text that a router signs for a challenge.
func proofText(challenge string) []byte { return []byte("hookrouter prove v1\n" + challenge) }

// isChallenge reports whether text is a valid challenge. It avoids a regular expression, which
// short-lived programs would have to compile.
func isChallenge(text []byte) bool {
	return len(text) >= 26 && len(text) <= 64 && !bytes.ContainsFunc(text, func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < '2' || r > '7')
	})
}

// Prove signs a challenge with the router's key.
func Prove(key nkeys.KeyPair, challenge []byte) ([]byte, error) {
	if !isChallenge(challenge) {
		return nil, wire.Errorf(wire.Malformed, "a challenge has 26 to 64 characters A-Z and 2-7")
	}
	signature, err := key.Sign(proofText(string(challenge)))
	if err != nil {
		return nil, err
	}
	return []byte(base64.StdEncoding.EncodeToString(signature)), nil
}

// proof is the state of a connection's proof that it leads to the router. NATS authenticates
// clients to servers only: while no router runs, any program that takes its port can answer its
// clients.
type proof struct {
	server string        // public key of the router; empty if no proof is required
	asking chan struct{} // holds one element while a proof is requested
	proven atomic.Uint64 // generation of the connection that was proven
}

// check requests a proof unless the router has proved itself since the last reconnect.
func (c *Conn) check(ctx context.Context) error {
	if c.checked() {
		return nil
	}
	select {
	case c.proof.asking <- struct{}{}:
		defer func() { <-c.proof.asking }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if c.checked() {
		return nil
	}
	at, challenge := c.generation(), rand.Text()
	reply, err := c.request(ctx, c.Of("prove"), nil, []byte(challenge), nil)
	if err != nil {
		return err
	}
	signature, err := base64.StdEncoding.DecodeString(string(reply.Data))
	if err != nil {
		return ErrImpostor
	}
	genuine, err := natscreds.Verified(c.proof.server, proofText(challenge), signature)
	if err != nil {
		return fmt.Errorf("the credentials name a malformed router's key: %w", err)
	}
	if !genuine {
		return ErrImpostor
	}
	c.proof.proven.Store(at)
	return nil
}

// checked reports whether the current connection is proven to lead to the router, or needs no
// proof.
func (c *Conn) checked() bool {
	return c.proof.server == "" || c.proof.proven.Load() == c.generation()
}

// generation returns a number that changes with each reconnect.
func (c *Conn) generation() uint64 { return c.nc.Stats().Reconnects + 1 }
