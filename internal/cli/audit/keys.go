package audit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/micro"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/cli/verifierkeys"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// keyFlags are the flags that select the trusted keys.
type keyFlags struct {
	Key     []string `sep:"none" placeholder:"KEY|FILE" help:"A router's verifier key, or a file with some: FILE.pub beside its --audit-key. Repeatable."`
	Witness []string `sep:"none" placeholder:"KEY|FILE" help:"A witness's verifier key, or a file with some. Repeatable."`
}

// trusted is the set of keys to verify with.
type trusted struct {
	routers, witnesses []verifierkeys.Key
}

func (t trusted) keys() audit.Keys {
	return audit.Keys{Routers: verifierkeys.Verifiers(t.routers), Witnesses: verifierkeys.Verifiers(t.witnesses)}
}

// trust parses the flags, with the pins as defaults.
func (f keyFlags) trust(pins []*pinFile) (t trusted, err error) {
	if t.routers, err = verifierkeys.Read("--key", f.Key); err != nil {
		return t, err
	}
	if t.witnesses, err = verifierkeys.Read("--witness", f.Witness); err != nil {
		return t, err
	}
	for _, p := range pins {
		if p == nil {
			continue
		}
		if len(f.Key) == 0 {
			if t.routers, err = p.addKeys(t.routers, p.Keys); err != nil {
				return t, err
			}
		}
		if len(f.Witness) == 0 {
			if t.witnesses, err = p.addKeys(t.witnesses, p.Witnesses); err != nil {
				return t, err
			}
		}
	}
	return t, nil
}

// errNoKey says how to get a key.
var errNoKey = errors.New("no router's key is known, and without one nothing can be proved: give it with --key; " +
	"it stands in FILE.pub beside the router's --audit-key, and `hookctl audit key show` prints it")

// How long to wait for the first router's key, and for each further one.
const (
	firstKey = 2 * time.Second
	patient  = 300 * time.Millisecond
)

// askKeys asks the running routers for their keys. from has the ids of the routers that sent one.
func askKeys(ctx context.Context, b *natsx.Conn) (found []verifierkeys.Key, from []string, err error) {
	subject, err := micro.ControlSubject(micro.InfoVerb, "hook-router", "")
	if err != nil {
		return nil, nil, err
	}
	err = cli.Discover(ctx, b, subject, firstKey, patient, func(info micro.Info) {
		if k, err := verifierkeys.Parse(info.Metadata["audit_key"]); err == nil {
			found = verifierkeys.Add(found, k)
			from = append(from, info.ID)
		}
	})
	return found, from, err
}

// onFirstUse trusts the keys of the running routers on first use, and prints a warning.
func onFirstUse(e *cli.Env, b *natsx.Conn, found []verifierkeys.Key, from []string) ([]verifierkeys.Key, error) {
	if len(found) == 0 {
		return nil, fmt.Errorf("%w; no router that runs here gave its key either", errNoKey)
	}
	fmt.Fprintf(e.Stderr, "hookctl: key taken ON TRUST, on first use: %s, as %s %s told over NATS at %s; compare it with the file FILE.pub beside the router's --audit-key, or give it with --key\n",
		verifierkeys.Names(found), term.Plural(len(from), "router"), term.Printable(strings.Join(from, ", ")), term.Printable(natsx.RedactURL(b.Conn().ConnectedUrl())))
	return found, nil
}
