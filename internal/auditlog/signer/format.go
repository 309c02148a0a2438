package signer

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// format returns the format of the next checkpoint. A segment's first checkpoint decides it: the
// latest format if all readers of the segment know that. wait means that the caller should try
// again later: routers that start together learn of each other within a moment, and an older one
// may sign meanwhile.
func (s *Signer) format(ctx context.Context, last bool) (f audit.Format, wait bool, err error) {
	if s.head != nil {
		return s.head.Format, false, nil
	}
	if s.waiting.IsZero() {
		s.waiting = time.Now()
	}
	if !s.Upgraded() {
		if !last && time.Since(s.waiting) < standby {
			return 0, true, nil
		}
		s.keepsOlder("a router is of an older version, or the routers are not known")
		return audit.LineFormat, false, nil
	}
	older, err := s.olderWitness(ctx)
	if err != nil {
		return 0, false, err
	}
	if older != "" {
		s.keepsOlder("the witness " + older + " has last signed with an older version")
		return audit.LineFormat, false, nil
	}
	return audit.Latest, false, nil
}

// keepsOlder logs why the segment has an older format.
func (s *Signer) keepsOlder(why string) {
	said := s.segment.Name() + ": " + why
	if s.said != said {
		s.said = said
		s.Log.Info("audit segment keeps an older format", "stream", s.segment.Name(), "reason", why)
	}
}

// olderWitness names a witness that does not know [audit.Latest], from the last checkpoint that
// it signed in any existing segment; "" for none.
func (s *Signer) olderWitness(ctx context.Context) (name string, err error) {
	segments, err := s.store.Segments(ctx)
	if err != nil {
		return "", err
	}
	exists := map[string]bool{}
	for _, segment := range segments {
		exists[segment.Name()] = true
	}
	newest := map[string]natsx.Record{} // by witness
	err = s.store.Cosigned(ctx, "*", func(rec natsx.Record) {
		tokens := strings.Split(rec.Subject, ".")
		segment, witness := tokens[len(tokens)-2], tokens[len(tokens)-1]
		if exists[segment] && rec.Sequence > newest[witness].Sequence {
			newest[witness] = rec
		}
	})
	for witness, rec := range newest {
		if n, _ := strconv.Atoi(rec.Header.Get(store.FormatHeader)); n < int(audit.Latest) {
			name = max(name, witness)
		}
	}
	return name, err
}
