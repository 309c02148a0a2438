package policy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/hookrouter/hookrouter/internal/auditlog/signer"
	"github.com/hookrouter/hookrouter/internal/bundle"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/clientconn"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// signing is the set of flags for commands that sign a policy.
type signing struct {
	Key    string `required:"" type:"path" placeholder:"FILE" help:"The private key that signs; audit key new makes one."`
	Serial uint64 `placeholder:"N" help:"Serial of the new version; default: one more than the stored one."`
}

// stored is a policy version as routers store it.
type stored struct {
	*bundle.Bundle        // nil if there is none that the key signed
	revision       uint64 // 0 if there is none
}

// publisher signs versions of a policy and stores them on routers.
type publisher struct {
	key  *signer.Key
	conn *clientconn.Conn
	name string
	now  map[bundle.Use]stored
}

// open reads the key, and the stored versions of a policy. It rejects a serial that workers would
// not accept.
func (s signing) open(ctx context.Context, e *cli.Env, name string) (*publisher, error) {
	if err := bundle.CheckName(name); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(s.Key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read --key: there is no file %s: `hookctl audit key new %s --name NAME` makes it", s.Key, s.Key)
	}
	if err != nil {
		return nil, fmt.Errorf("read --key: %w", err)
	}
	key, err := signer.ParseKey(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("read --key %s: it holds no private key: `hookctl audit key new` makes one", s.Key)
	}
	client, err := e.Client(ctx)
	if err != nil {
		return nil, err
	}
	d := &publisher{key: key, conn: clientconn.Of(client), name: name, now: map[bundle.Use]stored{}}
	for _, use := range [...]bundle.Use{bundle.Enforce, bundle.Shadow} {
		one, err := d.get(ctx, use, 0)
		if err != nil {
			return nil, fmt.Errorf("ask for policy %s: %w", name, err)
		}
		if one.Bundle == nil && one.revision > 0 && s.Serial == 0 {
			return nil, fmt.Errorf("another key signed the policy %s that is stored to %s: say with --serial which one follows what workers run (`hookctl policy status`)", name, use)
		}
		d.now[use] = one
	}
	if last := d.last(); s.Serial > 0 && last != nil && s.Serial <= last.Serial {
		return nil, fmt.Errorf("%s is stored, and workers take only a higher serial than %d: leave out --serial %d, or give at least %d", last.Short(), last.Serial, s.Serial, last.Serial+1)
	}
	return d, nil
}

// ask reads a stored version, whoever signed it. raw is empty if there is none.
func ask(ctx context.Context, conn *clientconn.Conn, name string, use bundle.Use, serial uint64) (raw []byte, revision uint64, err error) {
	body, err := jsonv2.Marshal(struct {
		Name   string     `json:"name"`
		Use    bundle.Use `json:"use"`
		Serial uint64     `json:"serial"`
	}{name, use, serial})
	if err != nil {
		return nil, 0, err
	}
	reply, err := conn.Request(ctx, clientconn.Request{Subject: conn.Transport.Of("policy", "get"), Body: body, Header: wire.Header{}})
	if err != nil {
		return nil, 0, err
	}
	if revision, err = strconv.ParseUint(wire.Get(reply.Header, wire.HeaderRevision), 10, 64); err != nil {
		return nil, 0, errors.New("the router's answer has no revision")
	}
	return reply.Data, revision, nil
}

// get reads a stored version, and keeps it only if the key signed it.
func (d *publisher) get(ctx context.Context, use bundle.Use, serial uint64) (one stored, err error) {
	raw, revision, err := ask(ctx, d.conn, d.name, use, serial)
	if err != nil {
		return one, err
	}
	one.revision = revision
	if b, err := bundle.Open(raw, d.key.Verifier); len(raw) > 0 && err == nil && b.Name == d.name {
		one.Bundle = b
	}
	return one, nil
}

// last returns the newest stored version that the key signed, or nil if there is none.
func (d *publisher) last() (last *bundle.Bundle) {
	for _, one := range d.now {
		if one.Bundle != nil && (last == nil || one.Serial > last.Serial) {
			last = one.Bundle
		}
	}
	return last
}

// serial returns the serial of the next version.
func (d *publisher) serial(given uint64) uint64 {
	last := d.last()
	switch {
	case given > 0:
		return given
	case last == nil:
		return 1
	}
	return last.Serial + 1
}

// push signs files, stores them, and prints the new version. It warns about guards that the new
// version no longer has.
func (d *publisher) push(ctx context.Context, e *cli.Env, s bundle.Statement, files []bundle.File) error {
	s.Name, s.Created = d.name, time.Now()
	b, err := bundle.Seal(d.key.Signer, s, files)
	if err != nil {
		return err
	}
	if s.Use == bundle.Enforce {
		leaving(e, d.now[s.Use].Bundle, b)
	}
	_, err = d.conn.Request(ctx, clientconn.Request{
		Subject: d.conn.Transport.Of("policy", "push"), Body: b.Raw,
		Header: wire.Header{wire.HeaderRevision: {strconv.FormatUint(d.now[s.Use].revision, 10)}},
	})
	if err != nil {
		return fmt.Errorf("push policy %s: %w", s.Short(), err)
	}
	showPushed(e, b)
	return nil
}

// pushed is the JSON form of a pushed version.
type pushed struct {
	Name     string     `json:"name"`
	Serial   uint64     `json:"serial"`
	Use      bundle.Use `json:"use"`
	Digest   string     `json:"sha256"`
	Restores uint64     `json:"restores,omitempty"`
	Commit   string     `json:"commit,omitempty"`
	Files    []string   `json:"files"`
}

func showPushed(e *cli.Env, b *bundle.Bundle) {
	one := pushed{b.Name, b.Serial, b.Use, b.Digest, b.Restores, b.Commit, nil}
	for _, f := range b.Files {
		one.Files = append(one.Files, f.Name)
	}
	if e.Out.Document(one) {
		return
	}
	if b.Restores > 0 {
		e.Out.Print("rolled back %s to @%d, as %s\nsha256:%s\n", b.Name, b.Restores, b.Short(), b.Digest)
	} else {
		e.Out.Print("pushed %s to %s, with %s\nsha256:%s\n", b.Short(), b.Use, term.Plural(len(b.Files), "file"), b.Digest)
	}
	e.Out.Print("hookctl policy status %s says which workers run it\n", b.Name)
}
