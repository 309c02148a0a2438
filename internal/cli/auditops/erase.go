package auditops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/natsx"
)

// EraseCmd is `hookctl audit erase`.
type EraseCmd struct {
	Session string `xor:"what" required:"" placeholder:"ID" help:"Erase the salts of this session; this or --before."`
	Before  string `xor:"what" required:"" placeholder:"TIME" help:"Erase all salts made before: 90d, 2026-03-01, or an RFC 3339 time; this or --session."`
	DryRun  bool   `help:"Only print what would be erased."`
}

// Erased is the JSON form of the result.
type Erased struct {
	Salts    int  `json:"salts"`
	Sessions int  `json:"sessions"`
	DryRun   bool `json:"dry_run,omitempty"`
}

// Run erases salts.
func (c *EraseCmd) Run(ctx context.Context, e *cli.Env) error {
	before, err := cli.Moment("--before", c.Before, time.Now())
	if err != nil {
		return err
	}
	b, err := e.Connect()
	if err != nil {
		return err
	}
	bucket, err := b.FindBucket(ctx, recorder.SaltBucket(b.Prefix(), 0).Name)
	if errors.Is(err, natsx.ErrNoStream) {
		return fmt.Errorf("there are no salts: no router with an audit log has run here, or with another --prefix than %s", b.Prefix())
	}
	if err != nil {
		return err
	}
	pattern := ">"
	if c.Session != "" {
		pattern = recorder.SaltKey(c.Session) + ".*"
	}
	list, err := bucket.KeyTimes(ctx, pattern)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(s natsx.KeyTime) bool { return c.Before != "" && !s.Time.Before(before) })
	done := Erased{Salts: len(list), Sessions: sessionsOf(list), DryRun: c.DryRun}
	if !c.DryRun {
		if err := c.erase(ctx, bucket, pattern, list); err != nil {
			return fmt.Errorf("%w: erasing takes an operator's credential; run it again, it goes on where it was", err)
		}
	}
	showErased(e, done)
	return nil
}

func sessionsOf(list []natsx.KeyTime) int {
	sessions := map[string]bool{}
	for _, s := range list {
		session, _, _ := strings.Cut(s.Key, ".")
		sessions[session] = true
	}
	return len(sessions)
}

func (c *EraseCmd) erase(ctx context.Context, bucket *natsx.Bucket, pattern string, list []natsx.KeyTime) error {
	if c.Session != "" { // also erases a salt made in the meantime
		return bucket.Erase(ctx, pattern)
	}
	for _, s := range list {
		if err := bucket.Erase(ctx, s.Key); err != nil {
			return err
		}
	}
	return nil
}

func showErased(e *cli.Env, d Erased) {
	if e.Out.Document(d) {
		return
	}
	verb := "erased"
	if d.DryRun {
		verb = "would erase"
	}
	e.Out.Print("%s %s of %s\n", verb, term.Plural(d.Salts, "salt"), term.Plural(d.Sessions, "session"))
	if d.Salts == 0 {
		return
	}
	for _, line := range [...]string{
		"The digests of their data in the audit log mean nothing without the salts: no guess can be checked against them.",
		"The log is as it was, and verifies as before. What stands in it as text stays: redacted views, ids of sessions, names, reasons.",
		"A router that serves such a session goes on with its salt until it restarts.",
		"Backups keep what they have, and NATS's own files keep the bytes until it writes them anew: use JetStream encryption where that matters.",
	} {
		e.Out.Fold(line)
	}
}
