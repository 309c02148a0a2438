package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// verdictOf runs verify, and checks that document and exit code say the same.
func (f *auditFixture) verdictOf(args ...string) (verified, outcome) {
	f.t.Helper()
	got := f.run(append([]string{"audit", "verify", "--json", "--wait", "200ms"}, args...)...)
	var v verified
	if err := json.Unmarshal([]byte(got.stdout), &v); err != nil {
		f.t.Fatalf("%v: %v in %+v", args, err, got)
	}
	if v.Verdict.ExitCode() != got.code {
		f.t.Errorf("%v: verdict %s with exit code %d", args, v.Verdict, got.code)
	}
	return v, got
}

// export exports a segment to a file.
func (f *auditFixture) export(segment int) string {
	f.t.Helper()
	file := filepath.Join(f.t.TempDir(), "export.jsonl")
	if got := f.run("audit", "export", file, "--segment", strconv.Itoa(segment)); got.code != exitOK {
		f.t.Fatal(got)
	}
	return file
}

func TestAuditVerifyOfBadFilesEndsInAVerdict(t *testing.T) {
	f, other := newAuditFixture(t), newAuditFixture(t)
	f.fill(5)
	other.keys = newKey(t, 9, "hook-router")
	other.write(chainOf("x", "y", began)...)
	other.sign()
	good, err := os.ReadFile(f.export(1))
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := os.ReadFile(other.export(1))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(good, []byte("\n"))
	join := func(list ...[]byte) []byte { return bytes.Join(list, nil) }
	foreignCheckpoint := bytes.SplitAfter(foreign, []byte("\n"))[2]
	elsewhere := bytes.ReplaceAll(foreignCheckpoint, []byte("hooks/HOOKS_AUDIT"), []byte("hooks/HOOKS_AUDIT_7"))
	for name, c := range map[string]struct {
		file []byte
		want audit.Verdict
		line int64
		text string
	}{
		"nothing wrong":                 {good, audit.OKUnanchored, 0, "5 messages"},
		"empty":                         {nil, audit.Incomplete, 1, "the file is empty"},
		"truncated in a line":           {good[:len(good)-20], audit.Incomplete, 8, "ends in the middle"},
		"truncated at a line":           {join(lines[:len(lines)-3]...), audit.Incomplete, 0, "no checkpoint covers"},
		"concatenated":                  {join(good, good), audit.Invalid, 9, "two exports in one file"},
		"CR LF line ends":               {bytes.ReplaceAll(good, []byte("\n"), []byte("\r\n")), audit.Invalid, 1, "CR LF"},
		"CR LF after the header":        {join(lines[0], bytes.ReplaceAll(join(lines[1:]...), []byte("\n"), []byte("\r\n"))), audit.Invalid, 2, "CR LF"},
		"a checkpoint by another key":   {join(lines[0], lines[1], foreignCheckpoint), audit.Invalid, 3, "no known router's key has signed"},
		"a checkpoint of another log":   {join(lines[0], lines[1], elsewhere), audit.Invalid, 3, ""},
		"an empty log":                  {lines[0], audit.Incomplete, 0, "the log is empty"},
		"an edited record":              {bytes.Replace(good, []byte("budget"), []byte("BUDGET"), 1), audit.Invalid, 5, "not the ones that were signed"},
		"a message removed":             {join(lines[0], lines[1], join(lines[3:]...)), audit.Invalid, 3, "stands where"},
		"a checkpoint removed":          {join(join(lines[:4]...), join(lines[5:]...)), audit.Diverged, 7, "predecessor"},
		"a text that is no export":      {[]byte("hello\n"), audit.Invalid, 1, "no header"},
		"a receipt":                     {[]byte(`{"hookrouter_audit_receipt":1}` + "\n"), audit.Invalid, 1, "no header"},
		"nothing but zeros":             {make([]byte, 1000), audit.Incomplete, 1, "middle"},
		"a header that climbs the tree": {bytes.ReplaceAll(good, []byte("hooks/HOOKS_AUDIT"), []byte("hooks/../../../x")), audit.Invalid, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "log.jsonl")
			if err := os.WriteFile(file, c.file, 0o600); err != nil {
				t.Fatal(err)
			}
			v, got := f.verdictOf(file, "--key", f.keys.text, "--no-pin")
			if v.Verdict != c.want && !(c.line == 0 && c.text == "" && !v.Verdict.OK()) || c.line > 0 && v.Line != c.line || !strings.Contains(v.Reason, c.text) {
				t.Errorf("%s line %d: %s\n%s", v.Verdict, v.Line, v.Reason, got.stderr)
			}
			piped := f.with(process{stdin: bytes.NewReader(c.file)}, "audit", "verify", "-", "--text", "--key", f.keys.text, "--no-pin")
			if piped.code != got.code || !strings.HasPrefix(piped.stdout, string(v.Verdict)) {
				t.Errorf("from the standard input: %+v", piped)
			}
		})
	}
	if v, _ := f.verdictOf(f.export(1), "--key", other.keys.text, "--no-pin"); v.Verdict != audit.Invalid || !strings.Contains(v.Reason, "key") {
		t.Errorf("a wrong key: %+v", v)
	}
}

func TestAuditVerifyOfALongLineIsInvalid(t *testing.T) {
	f := newAuditFixture(t)
	header := `{"hookrouter_audit_export":1,"origin":"hooks/HOOKS_AUDIT","first":1,"prefix":"hooks"}` + "\n"
	for name, begin := range map[string]string{"of a message": header + `{"seq":1,"time":"`, "instead of a header": ""} {
		in := io.MultiReader(strings.NewReader(begin), io.LimitReader(endless{}, 100<<20), strings.NewReader("\n"))
		got := f.with(process{stdin: in}, "audit", "verify", "-", "--text", "--key", f.keys.text)
		if got.code != audit.Invalid.ExitCode() || !strings.Contains(got.stdout, "longer than") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'a'
	}
	return len(b), nil
}

func TestAuditVerifyOfTheRunningLog(t *testing.T) {
	f := newAuditFixture(t)
	a := newKey(t, 2, "a")
	key := []string{"--key", f.keys.text}
	if v, _ := f.verdictOf(key...); v.Verdict != audit.Incomplete || !strings.Contains(v.Reason, "empty") {
		t.Errorf("an empty log: %+v", v)
	}
	f.fill(4)
	if v, _ := f.verdictOf(append(key, "--no-pin")...); v.Verdict != audit.OKUnanchored {
		t.Errorf("without a pin: %+v", v)
	}
	if v, _ := f.verdictOf(key...); v.Verdict != audit.OKUnanchored || v.Parts[0].Messages != 4 {
		t.Errorf("the first time: %+v", v)
	}
	if v, _ := f.verdictOf(); v.Verdict != audit.OKPinned {
		t.Errorf("the second time, with the pinned key: %+v", v)
	}
	f.cosign(a)
	if v, _ := f.verdictOf("--witness", a.text); v.Verdict != audit.OKWitnessed {
		t.Errorf("with a witness: %+v", v)
	}
	f.write(chainOf("more", "s", began)...)
	if v, _ := f.verdictOf(); v.Verdict != audit.Incomplete || !strings.Contains(v.Reason, "no checkpoint covers") {
		t.Errorf("without a checkpoint: %+v", v)
	}
	f.sign()
	if v, _ := f.verdictOf(); v.Verdict != audit.OKPinned { // the witness is not there yet
		t.Errorf("with one: %+v", v)
	}
	f.cosign(a)
	if v, _ := f.verdictOf(); v.Verdict != audit.OKWitnessed { // its key was pinned
		t.Errorf("witnessed again: %+v", v)
	}
}

func TestAuditVerifyFollowsSegments(t *testing.T) {
	f := newAuditFixture(t)
	f.fill(3)
	one := f.export(1)
	f.turn()
	f.fill(2)
	two := f.export(2)
	key := []string{"--key", f.keys.text, "--no-pin"}
	v, got := f.verdictOf(key...)
	if v.Verdict != audit.OKUnanchored || len(v.Parts) != 2 || v.Parts[1].Previous == "" {
		t.Errorf("the running log: %+v %s", v, got.stderr)
	}
	if v, _ := f.verdictOf(append(key, one, two)...); v.Verdict != audit.OKUnanchored || len(v.Parts) != 2 {
		t.Errorf("both files: %+v", v)
	}
	if v, _ := f.verdictOf(append(key, two)...); v.Verdict != audit.Incomplete || !strings.Contains(v.Reason, "segment before") {
		t.Errorf("the second alone: %+v", v)
	}
	if v, _ := f.verdictOf(append(key, two, one)...); v.Verdict != audit.Incomplete {
		t.Errorf("in another order: %+v", v)
	}
	text, err := os.ReadFile(two)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(two, bytes.Replace(text, []byte("budget"), []byte("BUDGET"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if v, _ := f.verdictOf(append(key, two)...); v.Verdict != audit.Invalid {
		t.Errorf("the second alone, edited: %+v", v)
	}

	// The pin of the running log knows where the second segment goes on from.
	two = f.export(2)
	if v, _ := f.verdictOf("--key", f.keys.text); !v.Verdict.OK() {
		t.Error(v)
	}
	if v, _ := f.verdictOf(two); v.Verdict != audit.OKPinned {
		t.Errorf("the second, with a pin: %+v", v)
	}

	// An empty live segment, and then one that is gone.
	f.turn()
	if v, _ := f.verdictOf(); v.Verdict != audit.OKPinned || len(v.Parts) != 2 {
		t.Errorf("after a turn: %+v", v)
	}
	if err := f.bus.RemoveStream(t.Context(), "HOOKS_AUDIT"); err != nil {
		t.Fatal(err)
	}
	if v, _ := f.verdictOf("--removed-before", "2"); v.Verdict != audit.OKPinned || len(v.Parts) != 1 {
		t.Errorf("after the first was removed: %+v", v)
	}
	for _, stream := range []string{"HOOKS_AUDIT_3", "HOOKS_AUDIT_2", "HOOKS_AUDIT"} {
		_ = f.bus.RemoveStream(t.Context(), stream)
	}
	if _, err := f.bus.CreateStream(t.Context(), "HOOKS_AUDIT", store.Subjects(f.bus), 1); err != nil {
		t.Fatal(err)
	}
	if v, _ := f.verdictOf(); v.Verdict != audit.Incomplete {
		t.Errorf("a log that was made anew: %+v", v)
	}
}

func TestAuditVerifyMissesALaterSegment(t *testing.T) {
	f := newAuditFixture(t)
	f.fill(2)
	f.turn()
	f.fill(2)
	if err := f.bus.RemoveStream(t.Context(), "HOOKS_AUDIT_2"); err != nil {
		t.Fatal(err)
	}
	v, got := f.verdictOf("--key", f.keys.text, "--no-pin")
	if v.Verdict != audit.Incomplete || !strings.Contains(v.Reason, "there was a later segment, HOOKS_AUDIT_2") {
		t.Errorf("%+v %s", v, got.stderr)
	}
}

func TestAuditVerifyGoesByTheGivenKeyNotThePinned(t *testing.T) {
	f := newAuditFixture(t)
	f.fill(2)
	f.verdictOf("--key", f.keys.text)
	if v, _ := f.verdictOf("--key", newKey(t, 8, "hook-router").text); v.Verdict != audit.Invalid {
		t.Errorf("%+v", v)
	}
}

func TestAuditVerifyTakesKeysOnTrustOnceAndRemembersThem(t *testing.T) {
	f := newAuditFixture(t)
	f.fill(2)
	got := f.run("audit", "verify")
	if got.code != exitLocal || !strings.Contains(got.stderr, "no router that runs here gave its key either") {
		t.Errorf("without a router: %+v", got)
	}
	f.announce(f.keys.text)
	v, got := f.verdictOf()
	if v.Verdict != audit.OKUnanchored || !v.OnTrust || !strings.Contains(got.stderr, "ON TRUST") {
		t.Errorf("the first time: %+v %s", v, got.stderr)
	}
	f.announce(newKey(t, 7, "hook-router").text) // it is not asked again
	v, got = f.verdictOf()
	if v.Verdict != audit.OKPinned || v.OnTrust || len(v.Keys) != 1 || strings.Contains(got.stderr, "ON TRUST") {
		t.Errorf("the second time: %+v %s", v, got.stderr)
	}
	file := f.export(1)
	if got := f.run("audit", "verify", file, "--no-pin"); got.code != exitLocal || !strings.Contains(got.stderr, "--key") {
		t.Errorf("offline without a key: %+v", got)
	}
	if v, _ := f.verdictOf(file); v.Verdict != audit.OKPinned {
		t.Errorf("offline with the pin: %+v", v)
	}
}

func TestAuditVerifyComparesWithWhatWasSeen(t *testing.T) {
	f, forger := newAuditFixture(t), newAuditFixture(t)
	forger.env["XDG_STATE_HOME"] = f.env["XDG_STATE_HOME"] // the auditor's, at another time
	f.fill(4)
	early := f.export(1)
	head := filepath.Join(t.TempDir(), "head")
	f.write(chainOf("more", "s", began)...)
	f.sign()
	if err := os.WriteFile(head, f.signed, 0o600); err != nil {
		t.Fatal(err)
	}
	key := []string{"--key", f.keys.text}
	if v, _ := f.verdictOf(append(key, early, "--no-pin", "--head", head)...); v.Verdict != audit.Incomplete || !strings.Contains(v.Reason, "tail is missing") {
		t.Errorf("a head that was seen: %+v", v)
	}
	if v, _ := f.verdictOf(key...); v.Verdict != audit.OKUnanchored {
		t.Errorf("the log: %+v", v)
	}
	v, got := f.verdictOf(early)
	if v.Verdict != audit.Incomplete || !strings.Contains(got.stderr, "use --pin with a file of its own") {
		t.Errorf("a tail that was cut off: %+v %s", v, got.stderr)
	}
	for i := range 5 { // another history, with the router's key
		forger.write(chainOf("forged-"+strconv.Itoa(i), "s", began)...)
		forger.sign()
	}
	if v, _ := forger.verdictOf(); v.Verdict != audit.Diverged || v.Seq != 5 {
		t.Errorf("a fork: %+v", v)
	}
	own := filepath.Join(t.TempDir(), "own.json")
	for _, want := range []audit.Verdict{audit.OKUnanchored, audit.OKPinned} {
		if v, _ := forger.verdictOf(append(key, "--pin", own)...); v.Verdict != want {
			t.Errorf("with a pin of its own: %+v", v)
		}
	}
}

func TestAuditPinsAreKeptSafe(t *testing.T) {
	f := newAuditFixture(t)
	f.fill(2)
	f.verdictOf("--key", f.keys.text)
	file := filepath.Join(f.env["XDG_STATE_HOME"], "hookctl", "audit", "hooks__HOOKS_AUDIT.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if !bytes.Contains(text, []byte(f.keys.text)) {
		t.Errorf("no key in %s", text)
	}
	if list, _ := os.ReadDir(filepath.Dir(file)); len(list) != 1 {
		t.Errorf("%d files are left", len(list))
	}
	// What is not OK changes nothing.
	f.write(chainOf("x", "y", began)...)
	f.verdictOf()
	if after, _ := os.ReadFile(file); !bytes.Equal(after, text) {
		t.Errorf("the pin is %s", after)
	}
	f.sign()
	for _, broken := range []string{"", "{}", "hello", `{"origin":"hooks/HOOKS_AUDIT","size":1,"keys":["x"]}`} {
		if err := os.WriteFile(file, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := f.run("audit", "verify"); got.code != exitLocal || !strings.Contains(got.stderr, "read the pin") {
			t.Errorf("a pin that says %q: %+v", broken, got)
		}
	}
	delete(f.env, "XDG_STATE_HOME")
	if got := f.run("audit", "verify", "--key", f.keys.text); got.code != exitLocal || !strings.Contains(got.stderr, "--no-pin") {
		t.Errorf("without a home: %+v", got)
	}
}

func TestAuditKeysAreReadOrExplained(t *testing.T) {
	f := newAuditFixture(t)
	f.fill(1)
	file, dir := f.export(1), t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if v, _ := f.verdictOf(file, "--no-pin", "--key", write("good", "# ours\n\n"+f.keys.text+"\n")); !v.Verdict.OK() {
		t.Errorf("a file: %+v", v)
	}
	for want, key := range map[string]string{
		"private key":                write("private", "PRIVATE+KEY+hook-router+12345678+AAAA\n"),
		"that is the private key":    "PRIVATE+KEY+hook-router+12345678+AAAA",
		"there is no key in it":      write("none", "\n"),
		"no verifier key":            write("junk", "hello\n"),
		"no such file":               filepath.Join(dir, "absent"),
		"as a key it is malformed":   f.keys.text + "x",
		"given as a router's and as": f.keys.text,
	} {
		args := []string{"audit", "verify", file, "--no-pin", "--key", key}
		if key == f.keys.text {
			args = append(args, "--witness", key)
		}
		got := f.run(args...)
		if got.code != exitLocal || !strings.Contains(got.stderr, want) || strings.Contains(got.stderr, "AAAA") {
			t.Errorf("%s: %+v", want, got)
		}
	}
}
