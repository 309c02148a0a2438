package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// recorded is what the log holds.
type recorded struct {
	results map[string][]query.Record // of chains, by their id
	refused map[string]bool           // chains whose agent was told nothing
	open    map[string][]string       // hooks that failed open, by chain
	decided map[string][]query.Record // by approval request
	records int
}

// errMissing means that an answer is not in the log.
var errMissing = errors.New("it is not in the log")

func connect(t *testing.T, url string) *natsx.Conn {
	t.Helper()
	return natstest.Connect(t, natsx.Options{URL: url})
}

// readLog reads all of the log. One that is not there is empty.
func readLog(t *testing.T, ctx context.Context, b *natsx.Conn) recorded {
	t.Helper()
	r, err := tryLog(t, ctx, b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func tryLog(t *testing.T, ctx context.Context, b *natsx.Conn) (recorded, error) {
	t.Helper()
	r := recorded{results: map[string][]query.Record{}, refused: map[string]bool{}, open: map[string][]string{}, decided: map[string][]query.Record{}}
	log, err := query.Open(ctx, b)
	if errors.Is(err, store.ErrNoLog) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	return r, log.Query(ctx, query.Filter{}, func(rec query.Record) error {
		r.records++
		switch {
		case rec.Err != nil:
			t.Errorf("%s: %v: %s", rec.Place, rec.Err, rec.Line)
		case rec.Kind == audit.LogKind:
			t.Errorf("%s: a router found something wrong with the log: %s", rec.Place, rec.Line)
		case rec.Kind == audit.ChainResult:
			r.results[rec.ChainID] = append(r.results[rec.ChainID], rec)
		case rec.Kind == audit.ChainRefused:
			r.refused[rec.ChainID] = true
		case rec.Kind == audit.ApprovalDecided:
			r.decided[rec.ApprovalID] = append(r.decided[rec.ApprovalID], rec)
		case rec.FailedOpen:
			r.open[rec.ChainID] = append(r.open[rec.ChainID], rec.Hook)
		}
		return nil
	})
}

// holds compares an answer with the log. The error is [errMissing], or says what is
// different.
func (r recorded) holds(a answer) error {
	list := r.results[a.ChainID]
	if len(list) == 0 {
		return errMissing
	}
	if len(list) > 1 {
		return fmt.Errorf("it has %d results", len(list))
	}
	rec := list[0]
	action, reason := a.action, a.reason
	if a.approval != "" {
		action, reason = "pending", ""
	}
	switch {
	case r.refused[a.ChainID] && a.approval == "": // else it sent the event again, and joined the approval request
		return errors.New("the log says that the agent was refused")
	case rec.Action != action || rec.Reason != reason || rec.DeniedBy != a.DeniedBy || rec.EventID != a.EventID || rec.Called != a.Hooks:
		return fmt.Errorf("the log has another content: %s", rec.Line)
	case !slices.Equal(r.open[a.ChainID], a.FailedOpen):
		return fmt.Errorf("failed open were %v, the log has %v", a.FailedOpen, r.open[a.ChainID])
	case rec.In == nil || !bytes.Equal(rec.In.Value, a.sent):
		return fmt.Errorf("the log has other data: %s", rec.Line)
	}
	if err := sameData(rec, a); err != nil || a.approval == "" {
		return err
	}
	id, option, granted := a.asked()
	if rec.ApprovalID != id {
		return fmt.Errorf("the log has another approval request: %s", rec.Line)
	}
	if err := r.holdsDecision(id, option); err != nil {
		return err
	}
	if d := r.decided[id][0]; d.Granted != granted || d.Granted != (a.action == "continue") {
		return fmt.Errorf("the log has another decision: %s", d.Line)
	}
	return nil
}

// sameData compares the data that the agent is to go on with.
func sameData(rec query.Record, a answer) error {
	switch {
	case a.action == "modify" && (rec.Out == nil || len(a.data) == 0):
		return fmt.Errorf("the changed data is missing: %s", rec.Line)
	case len(a.data) == 0:
		return nil
	case rec.Out != nil && !bytes.Equal(rec.Out.Value, a.data):
		return fmt.Errorf("it went on with other data: %s", rec.Line)
	case rec.Out == nil && !sameEvent(a.sent, a.data):
		return fmt.Errorf("it went on with other data than it sent: %s", rec.Line)
	}
	return nil
}

// sameEvent compares the members of an event before and after the router has added what
// every event has.
func sameEvent(sent, got []byte) bool {
	var before, after map[string]any
	if json.Unmarshal(sent, &before) != nil || json.Unmarshal(got, &after) != nil {
		return false
	}
	delete(after, "session_id")
	delete(after, "timestamp")
	return maps.Equal(before, after)
}

func (r recorded) holdsDecision(id, option string) error {
	list := r.decided[id]
	if len(list) == 0 {
		return errMissing
	}
	if len(list) > 1 || list[0].Option != option {
		return fmt.Errorf("the log has %d decisions, the first %s", len(list), list[0].Line)
	}
	return nil
}

// compare looks for everything that was told before a time. What is different is an error
// of the test; what is missing is counted.
func (r recorded) compare(t *testing.T, j *journal, until time.Time) (told, missing int) {
	t.Helper()
	wrong := 0
	told, missing = r.each(j, until, func(what fmt.Stringer, err error) {
		if errors.Is(err, errMissing) {
			return
		}
		if wrong++; wrong <= 5 {
			t.Errorf("%v: %v", what, err)
		}
	})
	if wrong > 5 {
		t.Errorf("%d answers are in the log with another content", wrong)
	}
	return told, missing
}

// count counts what was told before a time.
func (r recorded) count(j *journal, until time.Time) (told, missing int) {
	return r.each(j, until, func(fmt.Stringer, error) {})
}

// each looks for everything that was told before a time, and calls failed for what is
// missing or different.
func (r recorded) each(j *journal, until time.Time, failed func(what fmt.Stringer, err error)) (told, missing int) {
	look := func(what fmt.Stringer, err error) {
		told++
		if errors.Is(err, errMissing) {
			missing++
		}
		if err != nil {
			failed(what, err)
		}
	}
	answers, decisions := j.until(until)
	for _, a := range answers {
		look(a, r.holds(a))
	}
	for _, d := range decisions {
		look(d, r.holdsDecision(d.id, d.option))
	}
	return told, missing
}

// verify exports the log, as soon as a router has signed its end, and verifies it with
// the key in the file, and with a head that was seen before; nil for none.
func verify(t *testing.T, ctx context.Context, b *natsx.Conn, keyFile string, seen *audit.Pin) audit.Report {
	t.Helper()
	text, err := os.ReadFile(keyFile + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	key, err := note.NewVerifier(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	log, err := query.Open(ctx, b)
	if err != nil {
		t.Fatal(err)
	}
	segments, err := log.Segments(ctx)
	if err != nil || len(segments) != 1 {
		t.Fatalf("the log has %d segments, %v", len(segments), err)
	}
	aim, err := log.FindExportEnd(ctx, segments[0], 20*time.Second, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	var export bytes.Buffer
	w, err := audit.NewWriter(&export, log.Header(segments[0]))
	if err == nil {
		err = log.Export(ctx, w, aim, func(int64) {})
	}
	if err != nil {
		t.Fatal(err)
	}
	report, err := audit.Verify(ctx, &export, audit.Options{Keys: []note.Verifier{key}, Pin: seen})
	if err != nil {
		t.Fatal(err)
	}
	want := audit.OKUnanchored
	if seen != nil {
		want = audit.OKPinned
	}
	if report.Verdict != want {
		t.Errorf("verify says %s, want %s", report, want)
	}
	return report
}
