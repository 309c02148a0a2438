package workerfile_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds/basic"
)

func TestContributorsGive(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "status.json"), []byte(`{"up":true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := workerfile.Parse("w.yaml", []byte(`
contributors:
  - {id: written, name: As it is, channels: [a.b, c], data: {n: 1, list: [x]}}
  - {id: computed, channels: [c], cel: "{'of': data.channel, 'n': 1 + 1}"}
  - {id: fails, channels: [c], cel: data.nothing}
  - {id: read, channels: [c], exec: {command: [cat, status.json]}}
  - {id: asked, channels: [c], exec: {command: [cat]}}
  - {id: quiet, channels: [c], exec: {command: ["true"]}}
  - {id: no-json, channels: [c], exec: {command: [echo, so what]}}
  - {id: ends, channels: [c], exec: {command: [sh, -c, "echo broken >&2; exit 3"]}}
  - {id: long, channels: [c], exec: {command: [echo, "'xxxxxxxxxx'"], max_output: 4}}
`), basic.Kinds(kind.Worker{Dir: dir}))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if len(file.Hooks) != 0 || len(file.Contributors[0].Contributors) != 2 || file.Contributors[0].Registration.Name != "As it is" {
		t.Fatalf("read is %+v", file)
	}
	want := map[string]string{
		"written": `{"n":1,"list":["x"]}`, "computed": `{"n":2,"of":"c"}`, "fails": "error: no such", "read": `{"up":true}`, "asked": `{"channel":"c"}`,
		"quiet": "null", "no-json": "error: run echo: its output is not JSON", "ends": "error: run sh: exit status 3: broken", "long": "error: run echo: the output is too long",
	}
	for _, c := range file.Contributors {
		id := c.Registration.ID
		value, err := c.Contributors["c"](t.Context(), "c")
		got := fmt.Sprint("error: ", err)
		if err == nil {
			text, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			got = string(text)
		}
		if got != want[id] && !(strings.HasPrefix(want[id], "error: ") && strings.HasPrefix(got, want[id])) {
			t.Errorf("%s gives %s; want %s", id, got, want[id])
		}
	}
}

func TestWrongContributors(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"no id":           {`{channels: [c], data: 1}`, "contributors[0]: the contributor has no id"},
		"no channels":     {`{id: a, data: 1}`, "contributors[0]: the contributor has no channels"},
		"nothing":         {`{id: a, channels: [c]}`, "contributors[0]: the contributor gives nothing: give it one of cel, data, exec"},
		"two values":      {`{id: a, channels: [c], data: 1, cel: "1"}`, "contributors[0]: the contributor has both cel and data"},
		"an unknown key":  {`{id: a, channels: [c], dta: 1}`, `contributors[0]: unknown key "dta"`},
		"events":          {`{id: a, channels: [c], events: [x], data: 1}`, `contributors[0]: unknown key "events"`},
		"a hook's kind":   {`{id: a, channels: [c], http: {url: "https://x"}}`, `contributors[0]: unknown key "http"`},
		"a wrong channel": {`{id: a, channels: ["a b"], data: 1}`, "contributors[0].channels[0]: "},
		"a wrong id":      {`{id: "a b", channels: [c], data: 1}`, "contributors[0].id: "},
		"no CEL":          {`{id: a, channels: [c], cel: "1 +"}`, "contributors[0].cel: "},
		"no such command": {`{id: a, channels: [c], exec: {command: [no-such-program]}}`, "contributors[0].exec.command[0]: "},
		"a resident one":  {`{id: a, channels: [c], exec: {command: [cat], resident: true}}`, `contributors[0].exec: unknown key "resident"`},
		"an id twice":     {`{id: a, channels: [c], data: 1}, {id: a, channels: [c], data: 1}`, `contributors[1].id: hook id "a" is taken already, in line 1`},
		"no value":        {`{id: a, channels: [c], data: }`, "contributors[0].data: has no value"},
	} {
		_, err := workerfile.Parse("w.yaml", []byte("contributors: ["+tt.text+"]"), basic.Kinds(kind.Worker{}))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v; want %s", name, err, tt.want)
		}
	}
	_, err := workerfile.Parse("w.yaml", []byte("hooks: [{id: a, events: [e], cel: {rules: [{deny: x}]}}]\ncontributors: [{id: a, channels: [c], data: 1}]"), basic.Kinds(kind.Worker{}))
	if err == nil || !strings.Contains(err.Error(), `contributors[0].id: hook id "a" is taken already, in line 1`) {
		t.Errorf("an id of a hook: %v", err)
	}
}

// What this machine lacks for a contributor is not an error if only the file is checked.
func TestAContributorThatCannotRunHere(t *testing.T) {
	opts := basic.Kinds(kind.Worker{})
	opts.FileOnly = true
	file, err := workerfile.Parse("w.yaml", []byte("contributors: [{id: a, channels: [c], exec: {command: [no-such-program]}}]"), opts)
	if err != nil || file.Contributors[0].Lacks == nil {
		t.Fatalf("%+v, %v", file, err)
	}
	if _, err := file.Contributors[0].Contributors["c"](t.Context(), "c"); err == nil {
		t.Error("it gives something")
	}
}
