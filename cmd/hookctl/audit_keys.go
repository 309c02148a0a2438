package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	signednote "golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// keyFlags are the flags that say whose signatures hold.
type keyFlags struct {
	Key     []string `sep:"none" placeholder:"KEY|FILE" help:"A router's verifier key, or a file with some: FILE.pub beside its --audit-key. Repeatable."`
	Witness []string `sep:"none" placeholder:"KEY|FILE" help:"A witness's verifier key, or a file with some. Repeatable."`
}

// vkey is a verifier key and its text.
type vkey struct {
	signednote.Verifier
	text string
}

func (k vkey) String() string { return fmt.Sprintf("%s+%08x", printable(k.Name()), k.KeyHash()) }

// readKeys reads keys that stand on the command line, or in files, one on a line.
func readKeys(flag string, given []string) (list []vkey, err error) {
	for _, text := range given {
		lines := []string{text}
		if _, err := signednote.NewVerifier(text); err != nil {
			content, readErr := os.ReadFile(text)
			switch {
			case errors.Is(readErr, fs.ErrNotExist) && strings.Count(text, "+") >= 2 && !strings.HasPrefix(text, "PRIVATE"):
				return nil, fmt.Errorf("read %s %s: it is no file, and as a key it is malformed: %w", flag, clip(text, maxValue), err)
			case readErr != nil && strings.HasPrefix(text, "PRIVATE+KEY"):
				return nil, privateKey(flag)
			case readErr != nil:
				return nil, fmt.Errorf("read %s: %w", flag, readErr)
			}
			lines = strings.Split(string(content), "\n")
		}
		found := 0
		for _, line := range lines {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			if strings.HasPrefix(line, "PRIVATE+KEY") {
				return nil, privateKey(flag)
			}
			v, err := signednote.NewVerifier(line)
			if err != nil {
				return nil, fmt.Errorf("read %s %s: no verifier key, which is NAME+HASH+KEY: %w", flag, clip(text, maxValue), err)
			}
			list = addKey(list, vkey{v, line})
			found++
		}
		if found == 0 {
			return nil, fmt.Errorf("read %s %s: there is no key in it", flag, clip(text, maxValue))
		}
	}
	return list, nil
}

func privateKey(flag string) error {
	return fmt.Errorf("read %s: that is the private key, which signs; the verifier key is wanted, in the file beside it that ends with .pub", flag)
}

func addKey(list []vkey, k vkey) []vkey {
	if slices.ContainsFunc(list, func(have vkey) bool { return have.text == k.text }) {
		return list
	}
	return append(list, k)
}

func verifiers(list []vkey) []signednote.Verifier {
	out := make([]signednote.Verifier, len(list))
	for i, k := range list {
		out[i] = k.Verifier
	}
	return out
}

func texts(list []vkey) []string {
	out := make([]string, len(list))
	for i, k := range list {
		out[i] = k.text
	}
	return out
}

func keyNames(list []vkey) string {
	names := make([]string, len(list))
	for i, k := range list {
		names[i] = k.String()
	}
	return strings.Join(names, ", ")
}

// trusted are the keys that are gone by.
type trusted struct {
	routers, witnesses []vkey
}

func (t trusted) keys() audit.Keys {
	return audit.Keys{Routers: verifiers(t.routers), Witnesses: verifiers(t.witnesses)}
}

// trust reads the flags; what they do not say is as the pins have it.
func (f keyFlags) trust(pins []*pinFile) (t trusted, err error) {
	if t.routers, err = readKeys("--key", f.Key); err != nil {
		return t, err
	}
	if t.witnesses, err = readKeys("--witness", f.Witness); err != nil {
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

// patient is how long routers are asked for their keys: until that time after the last
// answer.
const patient = 300 * time.Millisecond

// askKeys asks the routers that are there for their keys, and says from whom they are.
func askKeys(ctx context.Context, b *natsx.Conn) (keys []vkey, from []string, err error) {
	answers := make(chan *nats.Msg, 256)
	inbox := b.Conn().NewInbox()
	sub, err := b.Conn().ChanSubscribe(inbox, answers)
	if err != nil {
		return nil, nil, awayError{fmt.Errorf("ask the routers for their keys: %w", err)}
	}
	defer sub.Unsubscribe() //nolint:errcheck // the connection is closed soon
	subject, err := micro.ControlSubject(micro.InfoVerb, "hook-router", "")
	if err != nil {
		return nil, nil, err
	}
	if err := b.Conn().PublishRequest(subject, inbox, nil); err != nil {
		return nil, nil, awayError{fmt.Errorf("ask the routers for their keys: %w", err)}
	}
	for {
		select {
		case msg := <-answers:
			var info micro.Info
			if len(msg.Data) == 0 || json.Unmarshal(msg.Data, &info) != nil {
				continue // no responders
			}
			v, err := signednote.NewVerifier(info.Metadata["audit_key"])
			if err != nil {
				continue
			}
			keys = addKey(keys, vkey{v, info.Metadata["audit_key"]})
			from = append(from, info.ID)
		case <-time.After(patient):
			return keys, from, nil
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

// onFirstUse takes the keys of the routers that are there on trust, and says so.
func (e *env) onFirstUse(ctx context.Context, b *natsx.Conn) ([]vkey, error) {
	keys, from, err := askKeys(ctx, b)
	if err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%w; no router that runs here gave its key either", errNoKey)
	}
	fmt.Fprintf(e.stderr, "hookctl: key taken ON TRUST, on first use: %s, as %s %s told over NATS at %s; compare it with the file FILE.pub beside the router's --audit-key, or give it with --key\n",
		keyNames(keys), plural(len(from), "router"), printable(strings.Join(from, ", ")), printable(natsx.RedactURL(b.Conn().ConnectedUrl())))
	return keys, nil
}
