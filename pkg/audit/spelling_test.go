package audit_test

import (
	"bytes"
	"encoding/base64"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

func TestAnExportHasOneSpelling(t *testing.T) {
	// Messages stand in lines 2 and 4, their checkpoints in 3 and 5.
	m := maker{signer: router.Signer}
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 2 {
		m.message(rnd, "fine")
		m.sign()
	}
	parts := m.parts
	file := export(t, parts)
	replace := func(old, with string) []byte {
		if !strings.Contains(string(file), old) {
			t.Fatalf("nothing to replace: %s", old)
		}
		return []byte(strings.Replace(string(file), old, with, 1))
	}
	const at = `"2026-03-01T12:00:00Z"`
	begin, _, _ := bytes.Cut(line(file, 2), []byte(`"lines":`))
	asBody := func(base64 string) []byte {
		return bytes.Replace(file, line(file, 2), []byte(string(begin)+`"body":"`+base64+"\"}\n"), 1)
	}
	none := part{checkpoint: cosigned(t, parts[:2])}
	last := part{checkpoint: cosigned(t, parts)}
	late := slices.Concat(parts[:3], []part{none}, parts[3:])

	for name, c := range map[string]struct {
		file   []byte
		want   audit.Verdict
		line   int64
		reason string
	}{
		"a header with another member":     {replace(`"first":1,`, `"first":1,"note":"nothing was denied",`), audit.Invalid, 1, "header"},
		"a header with another origin too": {replace(`"origin":`, `"origin":"hooks/OTHER","origin":`), audit.Invalid, 1, "header"},
		"a header with an ORIGIN":          {replace(`"origin":`, `"ORIGIN":"hooks/OTHER","origin":`), audit.Invalid, 1, "header"},
		"a header in another case":         {replace(`"origin":`, `"Origin":`), audit.Invalid, 1, "header"},
		"a header with a space":            {replace(`,"first":1`, `, "first":1`), audit.Invalid, 1, "header"},
		"a header in another order":        {replace(`"first":1,"prefix":"hooks"`, `"prefix":"hooks","first":1`), audit.Invalid, 1, "header"},
		"a header with an escape":          {replace(`"prefix":"hooks"`, `"prefix":"h\u006foks"`), audit.Invalid, 1, "header"},

		"a letter as an escape":              {replace("fine", `f\u0069ne`), audit.Invalid, 2, "not in the form of"},
		"a quote as an escape":               {replace(`\"`, `\u0022`), audit.Invalid, 2, "not in the form of"},
		"a slash as an escape":               {replace(`hooks/HOOKS_AUDIT\n`, `hooks\/HOOKS_AUDIT\n`), audit.Invalid, 3, "not in the form of"},
		"a line end as another escape":       {replace(`audit v2\n`, `audit v2\u000a`), audit.Invalid, 3, "not in the form of"},
		"a subject with an escape":           {replace("hooks.audit", `hooks\u002eaudit`), audit.Invalid, 2, "not in the form of"},
		"a subject that is not UTF-8":        {replace("hooks.audit", "hooks.\xff"), audit.Invalid, 2, "not in the form of"},
		"a time that is none":                {replace(at, `"\u0000\n<x>2026"`), audit.Invalid, 2, "RFC 3339"},
		"no time":                            {replace(at, `""`), audit.Invalid, 2, "RFC 3339"},
		"a day that is none":                 {replace(at, `"2026-02-30T12:00:00Z"`), audit.Invalid, 2, "RFC 3339"},
		"a time in another zone":             {replace(at, `"2026-03-01T13:00:00+01:00"`), audit.Invalid, 2, "RFC 3339"},
		"a time with zeros":                  {replace(at, `"2026-03-01T12:00:00.000Z"`), audit.Invalid, 2, "RFC 3339"},
		"another time":                       {replace(at, `"2027-03-01T12:00:00.123456789Z"`), audit.Invalid, 3, "not the ones that were signed"},
		"a list of lines as a body":          {asBody(base64.StdEncoding.EncodeToString(parts[0].body)), audit.Invalid, 2, "a list of lines stands there as a body"},
		"a body with a line end in it":       {asBody(`/w==\n`), audit.Invalid, 2, "not in the form of"},
		"a body with bits to spare":          {asBody(`/x==`), audit.Invalid, 2, "not in the form of"},
		"a body as it is written":            {asBody(`/w==`), audit.Invalid, 2, "end with LF"},
		"a body of lines that are not UTF-8": {asBody(`/wo=`), audit.Invalid, 2, "not UTF-8"},

		"a checkpoint twice":                           {export(t, slices.Insert(slices.Clone(parts), 1, parts[1])), audit.Invalid, 4, "twice"},
		"a checkpoint again after the next message":    {export(t, slices.Insert(slices.Clone(parts), 3, parts[1])), audit.Invalid, 5, "twice"},
		"the last checkpoint twice":                    {export(t, append(slices.Clip(parts), parts[3])), audit.Invalid, 6, "twice"},
		"a checkpoint again behind its co-signed copy": {export(t, append(slices.Clip(parts), last, parts[3])), audit.Invalid, 7, "twice"},
		"a co-signed copy after the next message":      {export(t, late), audit.Invalid, 5, "stands after message 2"},
		"a co-signed copy twice, as after a resume":    {export(t, append(slices.Clip(parts), last, last)), audit.OKWitnessed, 0, ""},
	} {
		got := verify(t, c.file, trusted())
		if got.Verdict != c.want || c.line != 0 && got.Line != c.line || !strings.Contains(got.Reason, c.reason) {
			t.Errorf("%s: %+v\nwant %v line %d: ...%s...", name, got, c.want, c.line, c.reason)
		}
	}
}

// TestNoByteOfAnExportCanBeChanged tries every place of a file, and what is put there
// instead. Only times and subjects of messages are not proved; a witness that is called
// otherwise is one that nobody knows.
func TestNoByteOfAnExportCanBeChanged(t *testing.T) {
	m := maker{signer: router.Signer}
	m.message(rand.New(rand.NewPCG(1, 1)), "fine")
	m.sign()
	file := export(t, append(m.parts, part{checkpoint: cosigned(t, m.parts)}))
	changes := testkit.Volume(t, 1, 4, 4) // of each byte
	for at, old := range file {
		all := []string{"", string([]byte{old, old}), string([]byte{old + 1}), string([]byte{old ^ ' '})}
		for i := range changes {
			with := all[(at+i)%len(all)]
			changed := slices.Concat(file[:at], []byte(with), file[at+1:])
			if got := verify(t, changed, trusted()); got.Verdict == audit.OKWitnessed {
				t.Errorf("%q instead of %q at %d: %v in %s", with, old, at, got, changed[max(at-20, 0):min(at+20, len(changed))])
			}
		}
	}
}

// sameAgain writes what stands in an export as [audit.Writer] writes it.
func sameAgain(t *testing.T, file []byte) []byte {
	t.Helper()
	r, err := audit.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := audit.NewWriter(&out, r.Header())
	if err != nil {
		t.Fatal(err)
	}
	for e, err := r.Next(); err == nil; e, err = r.Next() {
		if e.Checkpoint != nil {
			err = w.Checkpoint(e.Checkpoint)
		} else {
			var at time.Time
			if err := at.UnmarshalText(e.Time); err != nil {
				t.Fatal(err)
			}
			err = w.Message(e.Seq, at, string(e.Subject), append(bytes.Join(e.Lines, []byte("\n")), '\n'))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	end(t, w)
	return out.Bytes()
}
