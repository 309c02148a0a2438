package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func TestAnEmptyBus(t *testing.T) {
	f := newFixture(t)
	for _, tt := range []struct{ args, json, text string }{
		{"handlers", `{}`, "no hooks"},
		{"registry", `[]`, "no hooks are registered; `hookctl hook add --help` shows how to add one"},
		{"explain tool:pre", `{"event":"tool:pre","hooks":[]}`, "no hook wants tool:pre; `hookctl handlers` lists what is registered"},
		{"collect tool:pre", `{"values":[]}`, "nobody gave anything; `hookctl registry` lists who is there"},
		{"contributions a.b", `{"values":[]}`, "nobody gave anything; `hookctl registry` lists who is there"},
		{"hook rm nobody", `{"id":"nobody","removed":false,"instances":0}`, "there is no hook nobody; `hookctl registry` lists them"},
	} {
		args := strings.Fields(tt.args)
		f.run(args...).want(t, exitOK, tt.json, "")
		f.run(append(args, "--text")...).want(t, exitOK, tt.text, "")
	}
}

func TestListings(t *testing.T) {
	f := newFixture(t)
	f.hook(chain.Registration{ID: "later", Events: []string{"tool:*"}, Priority: 5, OnFailure: chain.FailClosed}, answering(chain.Result{}))
	f.hook(chain.Registration{ID: "writes", Name: "Writes", Events: []string{"tool:pre"}, Match: "data.tool_name == 'Write'", TimeoutMS: 250}, answering(chain.Result{}))
	f.hook(chain.Registration{ID: "beside", Events: []string{"*"}, Mode: chain.Shadow, SessionID: "s1"}, answering(chain.Result{}))

	f.run("handlers").want(t, exitOK, `{"*":["beside"],"tool:*":["later"],"tool:pre":["Writes"]}`, "")
	f.run("handlers", "tool:*").want(t, exitOK, `{"tool:*":["later"]}`, "")
	f.run("handlers", "--text").want(t, exitOK, `
PATTERN   HOOKS IN EXECUTION ORDER
*         beside
tool:*    later
tool:pre  Writes`, "")
	f.run("registry", "--text").want(t, exitOK, `
ID      ON        PRIORITY  MODE     TIMEOUT  ON FAILURE  INSTANCES  SESSION  MATCH
writes  tool:pre  0         enforce  250ms    continue    1          -        data.tool_name == 'Write'
beside  *         0         shadow   5s       continue    1          s1
later   tool:*    5         enforce  5s       deny        1          -`, "")
	f.run("explain", "tool:pre", "--set", "tool_name=Read", "--session", "s1", "--text").want(t, exitOK, `
#  HOOK    IS                      TIMEOUT  ON FAILURE  INSTANCES  MATCH
1  writes  skipped by match        250ms    continue    1          data.tool_name == 'Write'
2  beside  called beside (shadow)  5s       continue    1
3  later   called                  5s       deny        1`, "")
	f.run("explain", "tool:pre", "--text").want(t, exitOK, `
#  HOOK    IS                                      TIMEOUT  ON FAILURE  INSTANCES  MATCH
1  writes  failing: match: no such key: tool_name  250ms    continue    1          data.tool_name == 'Write'
2  later   called                                  5s       deny        1`, "")

	var list []map[string]any
	if err := json.Unmarshal([]byte(f.run("registry").stdout), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 3 || list[0]["id"] != "writes" || list[0]["timeout_ms"] != 250.0 || len(list[0]["instances"].([]any)) != 1 {
		t.Errorf("registry: %v; want writes first, in full", list)
	}
}

func TestCollections(t *testing.T) {
	f := newFixture(t)
	f.hook(chain.Registration{ID: "git", Events: []string{"prompt:submit"}}, answering(chain.Result{Data: []byte(`{"branch":"main"}`)}))
	f.hook(chain.Registration{ID: "silent", Events: []string{"prompt:submit"}}, func(ctx context.Context, _ worker.Event) (worker.Result, error) {
		<-ctx.Done()
		return worker.Result{}, ctx.Err()
	})
	f.run("collect", "prompt:submit", "{}", "--timeout", "100ms").want(t, exitOK,
		`{"values":[{"from":"git","value":{"branch":"main"}}],"missing":["silent"]}`, "")
	f.run("collect", "prompt:submit", "{}", "--timeout", "100ms", "--text").want(t, exitOK, `
FROM  VALUE
git   {"branch":"main"}
failed, or not in time: silent`, "")

	w, err := worker.Connect(t.Context(), worker.Options{Conn: f.nc})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close(context.Background()) })
	_, err = w.RegisterContributor(t.Context(), chain.Registration{ID: "names", Channels: []string{"observability.events"}},
		func(context.Context, string) (any, error) { return []string{"a:b"}, nil })
	if err != nil {
		t.Fatal(err)
	}
	f.run("contributions", "observability.events").want(t, exitOK, `{"values":[{"from":"names","value":["a:b"]}]}`, "")
	if got := f.run("registry", "--text").stdout; !strings.Contains(got, "names   channel observability.events  -") {
		t.Errorf("registry:\n%s\nwant the contributor", got)
	}
}

func TestEventsNeedNoNATS(t *testing.T) {
	f := &fixture{t: t}
	got := f.run("events", "--text")
	if got.code != exitOK || !strings.Contains(got.stdout, "\ntool:pre ") || !strings.Contains(got.stdout, "Also error:tool.") {
		t.Errorf("exit code %d, stdout:\n%s\nwant the catalogue", got.code, got.stdout)
	}
	var list []eventInfo
	if err := json.Unmarshal([]byte(f.run("events").stdout), &list); err != nil || len(list) < 40 {
		t.Errorf("%d events, %v; want the catalogue as JSON", len(list), err)
	}
	var schema map[string]any
	if err := json.Unmarshal([]byte(f.run("events", "error:tool").stdout), &schema); err != nil || schema["title"] != "tool:error" {
		t.Errorf("%v, %v; want the schema of tool:error", schema, err)
	}
	if got := f.run("events", "error:tool", "--text").stdout; !strings.HasPrefix(got, "tool:error  ") || !strings.Contains(got, "also error:tool\n\nFIELD ") {
		t.Errorf("stdout:\n%s\nwant the fields of tool:error", got)
	}
}

func TestHelpNamesTheExitCodes(t *testing.T) {
	f := &fixture{t: t}
	for _, args := range [][]string{{"--help"}, {"emit", "--help"}} {
		if got := f.run(args...); got.code != exitOK || !strings.HasSuffix(got.stdout, exitCodes) {
			t.Errorf("%v: exit code %d, stdout:\n%s\nwant the exit codes", args, got.code, got.stdout)
		}
	}
	if got := f.run("--version"); got.code != exitOK || strings.TrimSpace(got.stdout) == "" {
		t.Errorf("--version: %+v; want a version", got)
	}
}

func TestValidate(t *testing.T) {
	f := newFixture(t)
	f.hook(chain.Registration{ID: "good", Events: []string{"tool:pre"}}, answering(chain.Result{}))
	f.hook(chain.Registration{ID: "bad", Events: []string{"tool:pre"}}, func(context.Context, worker.Event) (worker.Result, error) {
		return worker.Result{}, errors.New("no\x1b[2J")
	})
	if got := f.run("validate", "good", "--text"); got.code != exitOK || !strings.HasPrefix(got.stdout, "hook good keeps the contract: ") {
		t.Errorf("%+v; want that it keeps the contract", got)
	}
	if got := f.run("validate", "bad", "--text"); got.code != exitLocal || !strings.Contains(got.stdout, "    FAILED usual data: ") || strings.Contains(got.stdout, "\x1b") {
		t.Errorf("%+v; want that it breaks the contract", got)
	}
	var report struct{ OK bool }
	if err := json.Unmarshal([]byte(f.run("validate", "good").stdout), &report); err != nil || !report.OK {
		t.Errorf("%+v, %v; want a report", report, err)
	}
	f.run("validate", "nobody").want(t, exitLocal, "", "hookctl: validate hook nobody: it is not registered; `hookctl registry` lists the hooks")
}
