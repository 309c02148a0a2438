package audit_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/hookrouter/hookrouter/pkg/audit"
)

func someCheckpoint() audit.Checkpoint {
	return audit.Checkpoint{
		Format: audit.Latest, Origin: origin, Size: 12, Root: tlog.RecordHash([]byte("x")), Time: start, Previous: tlog.RecordHash([]byte("y")),
		Writers: []audit.WriterHead{{ID: "a", WSeq: 3, Seq: 12}, {ID: "b", WSeq: 9, Seq: 11}}, Extra: []string{"policy 7", "policy 7 more"},
	}
}

func TestCheckpointsAreReadAsTheyAreWritten(t *testing.T) {
	first := someCheckpoint()
	first.Previous, first.Writers, first.Extra = tlog.Hash{}, nil, nil
	for name, want := range map[string]audit.Checkpoint{"a full one": someCheckpoint(), "the first one": first} {
		got, err := audit.ParseCheckpoint(want.Text())
		if err != nil {
			t.Fatal(name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(name, diff)
		}
		signed, err := want.Sign(router.Signer)
		if err != nil {
			t.Fatal(name, err)
		}
		opened, witnessed, err := keys.Open(signed)
		if err != nil || witnessed || opened.Digest() != want.Digest() {
			t.Error(name, opened, witnessed, err)
		}
	}
}

func TestParseCheckpointIsStrict(t *testing.T) {
	text := someCheckpoint().Text()
	for name, change := range map[string][2]string{
		"another version":           {"audit v2", "audit v3"},
		"an origin with a space":    {origin, "hooks AUDIT"},
		"no origin":                 {origin, ""},
		"size 0":                    {"\n12\n", "\n0\n"},
		"a size with a zero before": {"\n12\n", "\n012\n"},
		"a negative size":           {"\n12\n", "\n-12\n"},
		"a huge size":               {"\n12\n", "\n99999999999999999999\n"},
		"a short root":              {"=\n2026", "\n2026"},
		"a time in another zone":    {"000Z", "000+00:00"},
		"a time in seconds":         {".000Z", "Z"},
		"no such day":               {"2026-03-01", "2026-02-30"},
		"a bad predecessor":         {"=\nwriter", "\nwriter"},
		"writers unsorted":          {"writer a", "writer c"},
		"a writer twice":            {"writer b", "writer a"},
		"a writer beyond the size":  {"a 3 12", "a 3 13"},
		"a writer without a number": {"a 3 12", "a 12"},
		"wseq 0":                    {"a 3 12", "a 0 12"},
		"a writer after the others": {"policy 7\n", "policy 7\nwriter z 1 1\n"},
		"a key without a value":     {"policy 7\n", "policy\n"},
		"an empty line":             {"policy 7\n", "policy 7\n\n"},
		"CR LF":                     {"\n", "\r\n"},
		"no last LF":                {"more\n", "more"},
		"a control character":       {"more", "mo\x1bre"},
	} {
		broken := strings.Replace(text, change[0], change[1], 1)
		if broken == text {
			t.Fatalf("%s: nothing was changed", name)
		}
		if _, err := audit.ParseCheckpoint(broken); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	end := strings.Index(text, "=\n2026") // of the root, whose last character has bits to spare
	loose := text[:end-1] + string(text[end-1]+1) + text[end:]
	if _, err := audit.ParseCheckpoint(loose); err == nil {
		t.Error("a root in another spelling: accepted")
	}
	if _, err := audit.ParseCheckpoint(""); err == nil {
		t.Error("nothing: accepted")
	}
}

func TestOnlyWhatCanBeReadIsSigned(t *testing.T) {
	c := someCheckpoint()
	c.Extra = []string{"writer late 1 1\n"}
	if _, err := c.Sign(router.Signer); err == nil {
		t.Error("signed")
	}
}

func TestSignatures(t *testing.T) {
	signed, err := someCheckpoint().Sign(router.Signer)
	if err != nil {
		t.Fatal(err)
	}
	both, err := audit.Cosign(signed, keys, witness.Signer)
	if err != nil {
		t.Fatal(err)
	}
	sig := string(both[bytes.LastIndexByte(both, ' ')+1:])
	bad := strings.Replace(string(both), sig, sig[:10]+swapped(sig[10:12])+sig[12:], 1)
	end := len(signed) - len("=\n") // before it stands a character with bits to spare
	loose := string(signed[:end-1]) + string(signed[end-1]+1) + string(signed[end:])
	lone, err := note.Sign(&note.Note{Text: someCheckpoint().Text()}, witness.Signer)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		signed    string
		keys      audit.Keys
		witnessed bool
		fails     string
	}{
		"by the router":                      {signed: string(signed), keys: keys},
		"by the router, whose key is twice":  {signed: string(signed), keys: audit.Keys{Routers: []note.Verifier{router.Verifier, router.Verifier}}},
		"by both":                            {signed: string(both), keys: keys, witnessed: true},
		"by both, the witness unknown":       {signed: string(both), keys: audit.Keys{Routers: keys.Routers}},
		"by the witness alone":               {signed: string(lone), keys: keys, fails: "no known router's key"},
		"by the witness, in bytes that lie":  {signed: bad, keys: keys, fails: "witness"},
		"by the router, in another spelling": {signed: loose, keys: keys, fails: "spelling"},
		"by somebody with the router's name": {signed: string(signed), keys: audit.Keys{Routers: []note.Verifier{mallory.Verifier}}, fails: "another key"},
		"by nobody":                          {signed: someCheckpoint().Text(), keys: keys, fails: "no signed checkpoint"},
	} {
		_, witnessed, err := c.keys.Open([]byte(c.signed))
		if (err != nil) != (c.fails != "") || err != nil && !strings.Contains(err.Error(), c.fails) || witnessed != c.witnessed {
			t.Errorf("%s: witnessed %v, %v", name, witnessed, err)
		}
	}
	if _, err := audit.Cosign(lone, keys, witness.Signer); err == nil {
		t.Error("what no router signed was co-signed")
	}
}

// swapped is base64 text that stands for other bytes.
func swapped(text string) string {
	return strings.Map(func(c rune) rune {
		if c == 'A' {
			return 'B'
		}
		return 'A'
	}, text)
}
