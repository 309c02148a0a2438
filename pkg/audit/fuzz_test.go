package audit_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/pkg/audit"
)

const members = `"time":"","kind":"k","chain_id":"","session_id":"","event":"","hook":"","action":""`

// FuzzCheckLine: what passes is JSON for encoding/json too, and what it reads as
// an object without control characters passes unless it says why.
func FuzzCheckLine(f *testing.F) {
	for _, tail := range []string{
		`}`, `,"a":[1,-0.5e+7,true,false,null,{"b":[]},{}]}`, `,"writer":"r","wseq":12}`, `,"\u0061":1}`, `,"a":"\""}`, `,"a":"\\"}`, `,"a":"\\\""}`,
		`,"a":"\u00e9\n\/"}`, `,"a":01}`, `,"a":1.}`, `,"a":"\x"}`, `,"a":"\u00g0"}`, `,"a":"\`, `,"a":"\u00`, `,"a":tru}`, `,"a":[1,]}`, `,}`, ` } `, `}}`, `,"a":"\"}`, `,"a":"\\`,
	} {
		f.Add([]byte("{" + members + tail))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		err := audit.CheckLine(line)
		var object map[string]json.RawMessage
		if std := json.Unmarshal(line, &object); err == nil && std != nil {
			t.Errorf("accepted: %v", std)
		}
		// In an object that has what it needs, a value is right where it is JSON.
		value := bytes.Map(func(c rune) rune {
			if c < ' ' || c == 0xfffd {
				return -1
			}
			return c
		}, line)
		if len(value) > 250 {
			return // it may nest too deep
		}
		record := append(append([]byte(`{`+members+`,"a":`), value...), '}')
		err = audit.CheckLine(record)
		if json.Valid(value) && err != nil {
			t.Errorf("refused: %v", err)
		}
		if std := json.Unmarshal(record, &object); std != nil && err == nil {
			t.Errorf("accepted: %v", std)
		}
	})
}

// FuzzParseCheckpoint: what is accepted is written again as it was.
func FuzzParseCheckpoint(f *testing.F) {
	f.Add(someCheckpoint().Text())
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := audit.ParseCheckpoint(text); err == nil && c.Text() != text {
			t.Errorf("another text: %q", c.Text())
		}
	})
}

// FuzzVerify: whatever is in a file, verification ends with a verdict, and it is OK
// only where the records are the ones that were signed, and all is written as an export is.
func FuzzVerify(f *testing.F) {
	// The signer is this log's alone: what a fuzzer keeps from an earlier version of
	// this test was signed too.
	var bodies []byte
	for _, p := range makeLog(1, 4, "fine", router.Signer) {
		bodies = append(bodies, p.body...)
	}
	signer := newIdentity(1, fmt.Sprintf("hooks-router-%x", sha256.Sum256(bodies)))
	parts := makeLog(1, 4, "fine", signer.Signer)
	trust := audit.Options{Keys: []note.Verifier{signer.Verifier}}
	whole := export(f, parts)
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(bytes.ReplaceAll(whole, []byte("\n"), []byte("\r\n")))
	f.Add(bytes.Replace(whole, []byte("fine"), []byte("f\\u0069ne"), 1))
	f.Add(line(whole, 1))
	f.Fuzz(func(t *testing.T, file []byte) {
		got := verify(t, file, trust)
		if got.Verdict == "" || got.Reason == "" {
			t.Fatalf("no verdict: %+v", got)
		}
		if !got.Verdict.OK() {
			return
		}
		if again := sameAgain(t, file); !bytes.Equal(again, file) {
			t.Fatalf("OK, but another spelling of %q: %q", again, file)
		}
		r, err := audit.NewReader(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		for e, err := r.Next(); err == nil; e, err = r.Next() {
			for _, p := range parts {
				if e.Seq != 0 && p.seq == e.Seq && string(p.body) != string(bytes.Join(e.Lines, []byte("\n")))+"\n" {
					t.Fatalf("OK with another message %d: %q", e.Seq, e.Lines)
				}
			}
		}
	})
}
