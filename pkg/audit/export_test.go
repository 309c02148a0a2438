package audit_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/audit"
)

func TestExportKeepsBytes(t *testing.T) {
	for name, body := range map[string]string{
		"one record":         "{}\n",
		"three records":      "{}\n{\"a\":\"b\"}\n{}\n",
		"quotes and slashes": `{"a":"\"\\\/A< é 世界 𝄞","c":"\ud834\udd1e"}` + "\n",
		"control characters": "\t\x01\r\x7f\u2028 \n",
		"empty lines":        "\n\n",
		"no last LF":         "{}",
		"nothing":            "",
		"no UTF-8":           "\xff\xfe\n",
	} {
		t.Run(name, func(t *testing.T) {
			r, err := audit.NewReader(bytes.NewReader(export(t, []part{{seq: 1, body: []byte(body)}})))
			if err != nil {
				t.Fatal(err)
			}
			e, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			got := string(e.Body)
			for _, line := range e.Lines {
				got += string(line) + "\n"
			}
			if got != body || string(e.Subject) != "hooks.audit.w.router" || string(e.Time) != "2026-03-01T12:00:00Z" || e.Seq != 1 || e.Line != 2 {
				t.Errorf("%q, want %q; %+v", got, body, e)
			}
			if _, err := r.Next(); !errors.Is(err, io.EOF) {
				t.Error(err)
			}
		})
	}
}

func TestWriterRefusesWhatCannotBeWritten(t *testing.T) {
	if _, err := audit.NewWriter(io.Discard, audit.Header{Origin: "other/AUDIT", Prefix: "hooks"}); err == nil {
		t.Error("an origin without the prefix")
	}
	w, err := audit.NewWriter(io.Discard, audit.Header{Origin: origin, Prefix: "hooks", First: 7})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Message(6, start, "s", []byte("{}\n")); err == nil {
		t.Error("a message before the first")
	}
	if err := w.Message(7, start, "s", make([]byte, audit.MaxLine)); err == nil {
		t.Error("a message that is too large")
	}
	if err := w.Checkpoint([]byte("\xff")); err == nil {
		t.Error("a checkpoint that is no UTF-8")
	}
	if err := w.Message(7, start, "s", []byte("{}\n")); err != nil {
		t.Error("after that:", err)
	}
}

func TestResumeGoesOnAfterTheLastWholeLine(t *testing.T) {
	parts := makeLog(5, 12, "fine", router.Signer)
	whole := export(t, parts)
	header := len(line(whole, 1))
	name := filepath.Join(t.TempDir(), "audit.jsonl")
	for cut := header; cut <= len(whole); cut += 97 {
		if err := os.WriteFile(name, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		w, err := audit.Resume(file)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		behind := w.LastCheckpoint() == nil
		for _, p := range parts {
			switch {
			case p.body != nil && p.seq > w.Last():
				behind = true
				err = w.Message(p.seq, start, "hooks.audit.w.router", p.body)
			case p.checkpoint != nil && behind && reaches(t, p.checkpoint) == w.Last():
				err = w.Checkpoint(p.checkpoint)
			case bytes.Equal(p.checkpoint, w.LastCheckpoint()):
				behind = true
			}
			if err != nil {
				t.Fatalf("cut at %d: %v", cut, err)
			}
		}
		end(t, w)
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(whole), string(got)); diff != "" {
			t.Fatalf("cut at %d: %s", cut, diff)
		}
	}
}

func reaches(t *testing.T, signed []byte) int64 {
	t.Helper()
	c, _, err := keys.Open(signed)
	if err != nil {
		t.Fatal(err)
	}
	return c.Size
}

func TestResumeRefusesWhatIsNoExport(t *testing.T) {
	whole := export(t, makeLog(5, 3, "fine", router.Signer))
	for name, content := range map[string][]byte{
		"nothing": nil, "another file": []byte("hello\n"), "a cut header": whole[:9],
		"another line inside": append(bytes.Clone(whole), "hello\n"...),
	} {
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := audit.Resume(file); err == nil {
			t.Errorf("%s: resumed", name)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: the file was changed", name)
		}
	}
}
