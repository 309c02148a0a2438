package audit_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// edits change an export in one place each.
var edits = []struct {
	name string
	edit func(rnd *rand.Rand, file []byte) []byte
}{
	{"byte", func(rnd *rand.Rand, file []byte) []byte {
		at := rnd.IntN(len(file))
		file[at] ^= byte(1 + rnd.IntN(255))
		return file
	}},
	{"digit", func(rnd *rand.Rand, file []byte) []byte {
		at := rnd.IntN(len(file))
		for file[at] < '0' || file[at] > '9' {
			at = rnd.IntN(len(file))
		}
		file[at] = '0' + (file[at]-'0'+byte(1+rnd.IntN(9)))%10
		return file
	}},
	{"line", func(rnd *rand.Rand, file []byte) []byte {
		lines := bytes.SplitAfter(file, []byte("\n"))
		at := rnd.IntN(len(lines) - 1)
		if rnd.IntN(2) == 0 {
			return bytes.Join(slices.Delete(lines, at, at+1), nil)
		}
		return bytes.Join(slices.Insert(lines, at, lines[rnd.IntN(len(lines)-1)]), nil)
	}},
	{"order", func(rnd *rand.Rand, file []byte) []byte {
		lines := bytes.SplitAfter(file, []byte("\n"))
		a, b := rnd.IntN(len(lines)-1), rnd.IntN(len(lines)-1)
		lines[a], lines[b] = lines[b], lines[a]
		return bytes.Join(lines, nil)
	}},
	{"end", func(rnd *rand.Rand, file []byte) []byte {
		switch lines := bytes.SplitAfter(file, []byte("\n")); rnd.IntN(3) {
		case 0:
			return file[:rnd.IntN(len(file))]
		case 1:
			return bytes.Join(lines[:rnd.IntN(len(lines)-1)], nil)
		default:
			return append(file, lines[rnd.IntN(len(lines)-1)]...)
		}
	}},
}

// editedLog is an export whose messages have subjects and stored times of their own.
func editedLog(t *testing.T, f audit.Format, seed uint64) []byte {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 3))
	m := maker{signer: router.Signer, format: f}
	at := start
	for i := range 40 {
		at = at.Add(time.Duration(1 + rnd.Int64N(int64(3*time.Second))))
		m.next = part{stored: at, subject: fmt.Sprintf("hooks.audit.w.router-%d", rnd.IntN(100))}
		m.message(rnd, "fine")
		if i == 39 || rnd.IntN(5) == 0 {
			m.sign()
		}
	}
	return export(t, m.parts)
}

// covered is what [audit.LineFormat] covers of an export: all but the subjects and the
// stored times of messages.
func covered(t *testing.T, file []byte) string {
	t.Helper()
	r, err := audit.NewReader(bytes.NewReader(file))
	if err != nil {
		return err.Error()
	}
	text := fmt.Sprintln(r.Header())
	for {
		e, err := r.Next()
		if err != nil {
			return text + err.Error()
		}
		text += fmt.Sprintf("%d %q %q %q\n", e.Seq, e.Lines, e.Body, e.Checkpoint)
	}
}

// TestEditsOfAnExport edits exports at random places, one edit each, and verifies them
// against a pin. In the format that covers messages no edit passes. In the one that covers
// lines exactly those pass that change nothing but a subject or a stored time.
func TestEditsOfAnExport(t *testing.T) {
	n := testkit.Volume(t, 75, 300, 2000)
	for f, coversAll := range map[audit.Format]bool{audit.MessageFormat: true, audit.LineFormat: false} {
		t.Run(f.String(), func(t *testing.T) {
			t.Parallel()
			passed, byKind := 0, map[string]int{}
			var file []byte
			var pin *audit.Pin
			for i := range uint64(n) {
				if i%300 == 0 {
					file = editedLog(t, f, i)
					pin = verify(t, file, trusted()).Pin
				}
				rnd := rand.New(rand.NewPCG(i, 5))
				kind := edits[i%uint64(len(edits))]
				edited := kind.edit(rnd, bytes.Clone(file))
				for bytes.Equal(edited, file) {
					edited = kind.edit(rnd, bytes.Clone(file))
				}
				o := trusted()
				o.Pin = pin
				got := verify(t, edited, o)
				mayPass := !coversAll && covered(t, edited) == covered(t, file)
				if got.Verdict.OK() != mayPass {
					t.Errorf("edit %d (%s): %v; want OK: %v", i, kind.name, got, mayPass)
				}
				if got.Verdict.OK() {
					passed++
					byKind[kind.name]++
				}
			}
			t.Logf("volume: %d edits, %d passed %v", n, passed, byKind)
			if !coversAll && passed == 0 {
				t.Error("no edit of a subject or a time was tried")
			}
		})
	}
}
