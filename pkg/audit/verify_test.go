package audit_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// line is the text of one line of a file, from 1.
func line(file []byte, n int) []byte { return bytes.SplitAfter(file, []byte("\n"))[n-1] }

func TestVerdicts(t *testing.T) {
	// Messages stand in lines 2 and 3, their checkpoint in 4, the third in 5, 6.
	m := maker{signer: router.Signer}
	rnd := rand.New(rand.NewPCG(1, 1))
	m.message(rnd, "fine")
	m.message(rnd, "fine")
	m.sign()
	m.message(rnd, "fine")
	m.sign()
	parts := m.parts
	file := export(t, parts)
	replace := func(old, with string) []byte { return []byte(strings.Replace(string(file), old, with, 1)) }
	other := makeLog(9, 3, "other", router.Signer)
	signed := func(c audit.Checkpoint) []byte {
		note, err := c.Sign(router.Signer)
		if err != nil {
			t.Fatal(err)
		}
		return note
	}
	first, _, err := keys.Open(parts[2].checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	altered := func(change func(c *audit.Checkpoint)) []byte {
		c := first
		change(&c)
		return export(t, append(append([]part{}, parts[:2]...), part{checkpoint: signed(c)}))
	}
	body := func(text string) []byte {
		m := maker{signer: router.Signer}
		m.message(rnd, "fine")
		return export(t, append(m.parts, part{seq: 2, body: []byte(text)}))
	}
	good := strings.TrimSuffix(string(audit.Record{Kind: "x"}.Append(nil)), "\n")
	with := func(member string) []byte { return body(strings.TrimSuffix(good, "}") + member + "}\n") }

	for name, c := range map[string]struct {
		file    []byte
		options func(o *audit.Options)
		want    audit.Verdict
		line    int64
		seq     int64
		reason  string
	}{
		"a whole log": {file: file, want: audit.OKUnanchored, reason: "3 messages"},
		"a log whose last checkpoint is co-signed": {
			file: export(t, append(parts[:len(parts)-1:len(parts)-1], part{checkpoint: cosigned(t, parts)})), want: audit.OKWitnessed,
		},
		"only an earlier checkpoint is co-signed": {
			file: export(t, append([]part{parts[0], parts[1], {checkpoint: cosigned(t, parts[:3])}}, parts[3:]...)), want: audit.OKUnanchored,
		},
		"a co-signature of a witness nobody knows": {
			file: export(t, append(parts[:len(parts)-1:len(parts)-1], part{checkpoint: cosigned(t, parts)})),
			want: audit.OKUnanchored, options: func(o *audit.Options) { o.Witnesses = nil },
		},
		"a checkpoint and its co-signed copy": {
			file: export(t, append(slices.Clip(parts), part{checkpoint: cosigned(t, parts)})), want: audit.OKWitnessed,
		},
		"an earlier head seen elsewhere": {
			file: file, want: audit.OKPinned, options: func(o *audit.Options) { o.Heads = [][]byte{cosigned(t, parts[:3])} },
		},
		"an edited record under a witnessed checkpoint": {
			file: export(t, []part{{seq: 1, body: bytes.Replace(parts[0].body, []byte("fine"), []byte("FINE"), 1)}, parts[1], {checkpoint: cosigned(t, parts[:3])}}),
			want: audit.Diverged, line: 4, seq: 2, reason: "a witness",
		},
		"an edited record": {
			file: replace("fine", "FINE"), want: audit.Invalid, line: 4, seq: 2, reason: "not the ones that were signed",
		},
		"nothing":                            {file: nil, want: audit.Incomplete, line: 1, reason: "empty"},
		"no export":                          {file: []byte("hello\n"), want: audit.Invalid, line: 1, reason: "no header"},
		"an export of a later version":       {file: replace(`"hookrouter_audit_export":1`, `"hookrouter_audit_export":2`), want: audit.UnknownFormat, line: 1, reason: "version 2"},
		"an empty log":                       {file: line(file, 1), want: audit.Incomplete, reason: "the log is empty"},
		"no checkpoint":                      {file: export(t, parts[:2]), want: audit.Incomplete, reason: "no checkpoint"},
		"messages after the last checkpoint": {file: export(t, parts[:4]), want: audit.Incomplete, reason: "from sequence 3 to 3"},
		"a file that ends in the middle of a line": {file: file[:len(file)-1], want: audit.Incomplete, line: 6, reason: "middle"},
		"a file that ends before its checkpoint":   {file: export(t, append(parts[:3:3], parts[4])), want: audit.Incomplete, reason: "ends after message 2"},
		"the beginning is missing":                 {file: replace(`"first":1`, `"first":2`), want: audit.Incomplete, line: 1, reason: "beginning"},
		"the first message is missing":             {file: export(t, parts[1:]), want: audit.Incomplete, line: 2, seq: 2, reason: "beginning"},
		"a message is missing":                     {file: export(t, append(parts[:1:1], parts[3:]...)), want: audit.Invalid, line: 3, seq: 3, reason: "where 2 must be"},
		"a checkpoint too early":                   {file: export(t, append(parts[:1:1], parts[2], parts[1])), want: audit.Invalid, line: 4, seq: 2, reason: "after the checkpoint"},
		"a checkpoint too late":                    {file: export(t, []part{parts[0], parts[1], parts[3], parts[2]}), want: audit.Invalid, line: 5, seq: 2, reason: "after message 3"},
		"checkpoints in another order":             {file: export(t, []part{parts[0], parts[1], parts[2], parts[3], parts[4], parts[2]}), want: audit.Invalid, line: 7, seq: 2, reason: "after the one"},
		"two exports one after the other":          {file: append(bytes.Clone(file), file...), want: audit.Invalid, line: 7, reason: "two exports"},
		"two exports glued without a line end":     {file: append(file[:len(file)-1:len(file)-1], file...), want: audit.Invalid, line: 6},
		"CR LF in the file":                        {file: bytes.ReplaceAll(file, []byte("\n"), []byte("\r\n")), want: audit.Invalid, line: 1, reason: "CR LF"},
		"CR LF from the second line on":            {file: append(bytes.Clone(line(file, 1)), bytes.ReplaceAll(file[len(line(file, 1)):], []byte("\n"), []byte("\r\n"))...), want: audit.Invalid, line: 2, reason: "CR LF"},
		"an empty line in the file":                {file: replace("\n", "\n\n"), want: audit.Invalid, line: 2},
		"a member out of place":                    {file: replace(`,"time"`, `,"x":1,"time"`), want: audit.Invalid, line: 2},
		"a message without records":                {file: replace(string(line(file, 2)), `{"seq":1,"time":"","subject":"","lines":[]}`+"\n"), want: audit.Invalid, line: 2},
		"lists in the list":                        {file: replace(`}","{`, `}"["{`), want: audit.Invalid},
		"CR LF in a message":                       {file: body(good + "\r\n"), want: audit.Invalid, line: 3, seq: 2, reason: "CR LF"},
		"a message that does not end with LF":      {file: body(good), want: audit.Invalid, line: 3, seq: 2, reason: "does not end with LF"},
		"a message without a byte":                 {file: body(""), want: audit.Invalid, line: 3, seq: 2, reason: "without lines"},
		"an empty line in a message":               {file: body(good + "\n\n"), want: audit.Invalid, line: 3, seq: 2, reason: "empty line"},
		"a record that is no JSON":                 {file: body("hello\n"), want: audit.Invalid, line: 3, seq: 2, reason: "no JSON object"},
		"a record that is no UTF-8":                {file: body("{\"a\":\"\xff\"}\n"), want: audit.Invalid, line: 3, seq: 2, reason: "not UTF-8"},
		"a record without an action":               {file: body(strings.Replace(good, "action", "Action", 1) + "\n"), want: audit.Invalid, line: 3, seq: 2, reason: "lacks"},
		"a name twice":                             {file: with(`,"action":"allow"`), want: audit.Invalid, line: 3, seq: 2, reason: "twice"},
		"a long name twice":                        {file: with(strings.Repeat(`,"x`+strings.Repeat("é", 25)+`":1`, 2)), want: audit.Invalid, line: 3, seq: 2, reason: `"x` + strings.Repeat("é", 19) + `" stands there twice`},
		"a name twice, with an escape":             {file: with(`,"\u0061ction":"allow"`), want: audit.Invalid, line: 3, seq: 2, reason: "escape"},
		"a kind that is no string":                 {file: body(strings.Replace(good, `"x"`, `1`, 1) + "\n"), want: audit.Invalid, line: 3, seq: 2, reason: "strings"},
		"a writer without wseq":                    {file: with(`,"writer":"r"`), want: audit.Invalid, line: 3, seq: 2, reason: "together"},
		"wseq 0":                                   {file: with(`,"writer":"r","wseq":0`), want: audit.Invalid, line: 3, seq: 2, reason: "from 1"},
		"a writer that does not begin at 1":        {file: with(`,"writer":"r","wseq":2`), want: audit.Invalid, line: 3, seq: 2, reason: "record 2 of writer r follows its record 0"},
		"a writer that is no word":                 {file: with(`,"writer":"r 1","wseq":1`), want: audit.Invalid, line: 3, seq: 2, reason: "word"},
		"a tab in a record":                        {file: with("\t"), want: audit.Invalid, line: 3, seq: 2, reason: "control"},
		"a key nobody knows": {
			file: export(t, makeLog(1, 3, "fine", mallory.Signer)), want: audit.Invalid, reason: "another key",
		},
		"the name of the key and another key": {
			file: file, want: audit.Invalid, line: 4, reason: "another key", options: func(o *audit.Options) { o.Keys = []note.Verifier{mallory.Verifier} },
		},
		"a text that was not signed": {file: replace(`audit v2\nhooks/HOOKS_AUDIT\n2`, `audit v2\nhooks/HOOKS_AUDIT\n1`), want: audit.Invalid, line: 4, reason: `" does not fit`},
		"a checkpoint of another log": {
			file: altered(func(c *audit.Checkpoint) { c.Origin = "hooks/OTHER" }), want: audit.Invalid, line: 4, reason: "another log",
		},
		"a pin of another log": {
			file: file, want: audit.Invalid, line: 1, reason: "OTHER", options: func(o *audit.Options) { o.Pin = &audit.Pin{Origin: "hooks/OTHER", Size: 1} },
		},
		"a pin of another history": {
			file: file, want: audit.Diverged, line: 3, seq: 2, reason: "pinned head", options: func(o *audit.Options) { o.Pin = &audit.Pin{Origin: origin, Size: 2} },
		},
		"a pin of a longer log": {
			file: file, want: audit.Incomplete, reason: "tail is missing", options: func(o *audit.Options) { o.Pin = &audit.Pin{Origin: origin, Size: 4} },
		},
		"a witness remembers another history": {
			file: file, want: audit.Diverged, options: func(o *audit.Options) { o.Heads = [][]byte{cosigned(t, other)} },
		},
		"writers that are not the log's": {
			file: altered(func(c *audit.Checkpoint) { c.Writers = nil }), want: audit.Invalid, line: 4, reason: "last record of each writer",
		},
		"two roots for one size": {
			file: export(t, append(parts[:3:3], part{checkpoint: signed(audit.Checkpoint{Format: audit.Latest, Origin: origin, Size: 2, Time: start, Previous: first.Digest()})})),
			want: audit.Diverged, line: 5, reason: "different roots",
		},
		"a first checkpoint with a predecessor": {
			file: altered(func(c *audit.Checkpoint) { c.Previous = tlog.Hash{1} }), want: audit.Diverged, line: 4, reason: "predecessor",
		},
		"a log that goes on from another segment": {
			file: altered(func(c *audit.Checkpoint) { c.Previous = tlog.Hash{1} }), want: audit.OKUnanchored,
			options: func(o *audit.Options) { o.Previous = tlog.Hash{1} },
		},
		"a log that goes on from a segment that nobody knows": {
			file: altered(func(c *audit.Checkpoint) { c.Previous = tlog.Hash{1} }), want: audit.OKUnanchored,
			options: func(o *audit.Options) { o.AnyPrevious = true },
		},
		"a second checkpoint that names another, where the first may name any": {
			file: export(t, append(parts[:3:3], part{checkpoint: signed(audit.Checkpoint{Format: audit.Latest, Origin: origin, Size: 2, Time: start.Add(1), Root: first.Root, Previous: tlog.Hash{1}})})),
			want: audit.Diverged, line: 5, reason: "predecessor", options: func(o *audit.Options) { o.AnyPrevious = true },
		},
		"a log that forgot the segment before": {
			file: file, want: audit.Diverged, line: 4, options: func(o *audit.Options) { o.Previous = tlog.Hash{1} },
		},
		"a line that a later version adds to a checkpoint": {
			file: altered(func(c *audit.Checkpoint) { c.Extra = []string{"policy 7"} }), want: audit.OKUnanchored,
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := trusted()
			if c.options != nil {
				c.options(&o)
			}
			got := verify(t, c.file, o)
			if got.Verdict != c.want || c.line != 0 && got.Line != c.line || c.seq != 0 && got.Seq != c.seq || !strings.Contains(got.Reason, c.reason) {
				t.Errorf("%+v\nwant %v line %d, sequence %d: ...%s...", got, c.want, c.line, c.seq, c.reason)
			}
			if got.Verdict.OK() != (got.Pin != nil) {
				t.Errorf("%v has the pin %v", got.Verdict, got.Pin)
			}
		})
	}
}

func TestReportCounts(t *testing.T) {
	parts := makeLog(4, 25, "fine", router.Signer)
	records := int64(0)
	for _, p := range parts {
		records += int64(bytes.Count(p.body, []byte("\n")))
	}
	got := verify(t, export(t, parts), trusted())
	head, _, err := keys.Open(parts[len(parts)-1].checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	want := audit.Report{
		Verdict: audit.OKUnanchored, Reason: got.Reason, Origin: origin, Messages: 25, Records: records,
		Checkpoints: int64(len(checkpoints(parts))), Head: &head, Pin: &audit.Pin{Origin: origin, Size: 25, Root: head.Root},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestVerdictsHaveTheirOwnExitCodes(t *testing.T) {
	want := map[audit.Verdict]int{
		audit.OKWitnessed: 0, audit.OKPinned: 10, audit.OKUnanchored: 20, audit.Diverged: 30, audit.Invalid: 40, audit.Incomplete: 50, audit.UnknownFormat: 60, "": 1,
	}
	for v, code := range want {
		if got := v.ExitCode(); got != code {
			t.Errorf("%q: %d, want %d", v, got, code)
		}
		if v.OK() != strings.HasPrefix(string(v), "OK") {
			t.Errorf("%q: OK is %v", v, v.OK())
		}
	}
}

func TestUnusableOptionsAreErrors(t *testing.T) {
	file := export(t, makeLog(1, 3, "fine", router.Signer))
	for name, o := range map[string]audit.Options{
		"no key":                        {},
		"a witness with the router's":   {Keys: trusted().Keys, Witnesses: trusted().Keys},
		"an empty pin":                  {Keys: trusted().Keys, Pin: &audit.Pin{Origin: origin}},
		"a head that nobody has signed": {Keys: trusted().Keys, Heads: [][]byte{[]byte("hello")}},
	} {
		if r, err := audit.Verify(t.Context(), bytes.NewReader(file), o); err == nil || r.Verdict != "" {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}

func TestVerifyEndsWithTheContextAndTheReader(t *testing.T) {
	file := export(t, makeLog(1, 300, "fine", router.Signer))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := audit.Verify(ctx, bytes.NewReader(file), trusted()); !errors.Is(err, context.Canceled) || r.Verdict != "" {
		t.Errorf("a context that is over: %v, %v", r, err)
	}
	broken := errors.New("the disk is gone")
	in := io.MultiReader(bytes.NewReader(file[:len(file)/2]), iotest.ErrReader(broken))
	if r, err := audit.Verify(t.Context(), in, trusted()); !errors.Is(err, broken) || r.Verdict != "" {
		t.Errorf("a reader that fails: %v, %v", r, err)
	}
}

func TestProgressEndsWithTheSizeOfTheFile(t *testing.T) {
	file := export(t, makeLog(1, 600, "fine", router.Signer))
	var told []int64
	o := trusted()
	o.Progress = func(done int64) { told = append(told, done) }
	verify(t, file, o)
	if len(told) < 3 || told[len(told)-1] != int64(len(file)) {
		t.Errorf("told %v of %d bytes", told, len(file))
	}
}

func TestAnEndlessLineIsInvalidInBoundedMemory(t *testing.T) {
	header := line(export(t, nil), 1)
	for name, endless := range map[string]io.Reader{
		"of a message":    io.MultiReader(bytes.NewReader(header), strings.NewReader(`{"seq":1,"time":"`), io.LimitReader(forever('a'), 100<<20)),
		"of quotes":       io.MultiReader(bytes.NewReader(header), strings.NewReader(`{"seq":1,"time":"","subject":"","lines":["`), io.LimitReader(forever('"'), 100<<20)),
		"instead of JSON": io.LimitReader(forever(' '), 100<<20),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := audit.Verify(t.Context(), endless, trusted())
		runtime.ReadMemStats(&after)
		if err != nil || got.Verdict != audit.Invalid || got.Line == 0 || !strings.Contains(got.Reason, "longer than") {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 64<<20 {
			t.Errorf("%s: %d MB were allocated", name, taken>>20)
		}
	}
}

type forever byte

func (c forever) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(c)
	}
	return len(b), nil
}

var underRace bool // set by race_test.go

func TestMemoryIsConstant(t *testing.T) {
	if testing.Short() || underRace {
		t.Skip("much is generated; under the race detector that takes a minute")
	}
	size := int64(testkit.Volume(t, 16, 200, 200)) << 20
	in, out := io.Pipe()
	go func() { out.CloseWithError(stream(out, size, 16)) }()
	defer in.Close()
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, most, told := heap(), uint64(0), int64(0)
	o := trusted()
	o.Progress = func(done int64) {
		if done-told > 4<<20 {
			told, most = done, max(most, heap())
		}
	}
	got, err := audit.Verify(t.Context(), in, o)
	if err != nil || got.Verdict != audit.OKUnanchored {
		t.Fatal(got, err)
	}
	t.Logf("volume: %d MB, %d records; heap %d KB before, at most %d KB", told>>20, got.Records, before>>10, most>>10)
	if told < size*3/4 || most > before+8<<20 {
		t.Errorf("the heap grew from %d to %d KB within %d MB", before>>10, most>>10, told>>20)
	}
}
