package stubmodel_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/test/agents/stubmodel"
)

// conversations are requests of each API: before a tool has run, and after it.
var conversations = []struct {
	api, path, first, second string
	wantCall                 string // in the answer to the first
}{
	{
		"responses", "/v1/responses",
		`{"model":"m","stream":STREAM,"tools":[{"type":"web_search"},{"type":"function","name":"exec_command"}],"input":[{"role":"user"}]}`,
		`{"model":"m","stream":STREAM,"tools":[{"type":"function","name":"exec_command"}],"input":[{"type":"function_call_output","output":"told"}]}`,
		`"arguments":"{\"cmd\":\"whoami\"}"`,
	},
	{
		"chat", "/v1/chat/completions",
		`{"model":"m","stream":STREAM,"tools":[{"type":"function","function":{"name":"shell"}}],"messages":[{"role":"user"}]}`,
		`{"model":"m","stream":STREAM,"tools":[{"type":"function","function":{"name":"shell"}}],"messages":[{"role":"tool","content":"told"}]}`,
		`"arguments":"{\"command\":\"whoami\"}"`,
	},
	{
		"messages", "/v1/messages",
		`{"model":"m","stream":STREAM,"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"x"}]}`,
		`{"model":"m","stream":STREAM,"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":[{"type":"tool_result","content":"told"}]}]}`,
		`whoami`,
	},
	{
		"generate", "/v1beta/models/m:GENERATE",
		`{"tools":[{"functionDeclarations":[{"name":"run_shell_command"}]}],"contents":[{"parts":[{"text":"x"}]}]}`,
		`{"tools":[{"functionDeclarations":[{"name":"run_shell_command"}]}],"contents":[{"parts":[{"functionResponse":{"response":"told"}}]}]}`,
		`"command":"whoami"`,
	},
}

func post(t *testing.T, url, body string) (answer, contentType string) {
	t.Helper()
	r, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s", url, r.Status, text)
	}
	return string(text), r.Header.Get("Content-Type")
}

// TestTurn has each API call the shell once and then finish.
func TestTurn(t *testing.T) {
	for _, c := range conversations {
		for _, stream := range []string{"true", "false"} {
			t.Run(c.api+" stream "+stream, func(t *testing.T) {
				var before []stubmodel.Request
				s := &stubmodel.Server{Command: "whoami", Before: func(r stubmodel.Request) { before = append(before, r) }}
				h := httptest.NewServer(s)
				defer h.Close()
				path := strings.Replace(c.path, "GENERATE", map[string]string{"true": "streamGenerateContent", "false": "generateContent"}[stream], 1)
				first, contentType := post(t, h.URL+path, strings.Replace(c.first, "STREAM", stream, 1))
				if streamed := contentType == "text/event-stream"; streamed != (stream == "true") {
					t.Errorf("the type of the answer is %s", contentType)
				}
				if !strings.Contains(first, c.wantCall) || strings.Contains(first, stubmodel.Final) {
					t.Errorf("the first answer calls no shell: %s", first)
				}
				second, _ := post(t, h.URL+path, strings.Replace(c.second, "STREAM", stream, 1))
				if !strings.Contains(second, stubmodel.Final) || strings.Contains(second, "whoami") {
					t.Errorf("the second answer does not finish: %s", second)
				}
				requests := s.Requests()
				if len(requests) != 2 || requests[0].API != c.api || requests[1].Results != 1 || len(before) != 2 {
					t.Errorf("recorded %+v, announced %d", requests, len(before))
				}
				if !s.Saw("told") || s.Saw("untold") {
					t.Error("the record does not say what was sent")
				}
			})
		}
	}
}

// TestOther has requests that are no conversation.
func TestOther(t *testing.T) {
	s := &stubmodel.Server{Command: "whoami"}
	h := httptest.NewServer(s)
	defer h.Close()
	if title, _ := post(t, h.URL+"/v1/messages", `{"messages":[{"role":"user","content":"give it a title"}]}`); !strings.Contains(title, stubmodel.Final) {
		t.Errorf("without tools: %s", title)
	}
	if said, _ := post(t, h.URL+"/v1/messages", `{"tools":[{"name":"Read"},{"name":"Write"}],"messages":[]}`); !strings.Contains(said, "no shell among the tools: Read, Write") {
		t.Errorf("without a shell: %s", said)
	}
	if n := len(s.Requests()); n != 2 {
		t.Errorf("%d requests are recorded", n)
	}
	if counted, _ := post(t, h.URL+"/v1/messages/count_tokens", `{}`); !strings.Contains(counted, "input_tokens") {
		t.Errorf("tokens: %s", counted)
	}
	for path, want := range map[string]int{"/v1/responses": http.StatusBadRequest, "/v1/models": http.StatusOK} {
		r, err := http.Post(h.URL+path, "application/json", strings.NewReader("no JSON"))
		if err != nil || r.StatusCode != want {
			t.Errorf("%s: %v %v", path, err, r)
		}
		_ = r.Body.Close()
	}
}

// TestCompressed has an agent that compresses what it sends.
func TestCompressed(t *testing.T) {
	s := &stubmodel.Server{}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(`{"messages":[{"role":"user","content":"packed"}]}`))
	_ = z.Close()
	r := httptest.NewRequest(http.MethodPost, "/v1/messages", &packed)
	r.Header.Set("Content-Encoding", "gzip")
	s.ServeHTTP(httptest.NewRecorder(), r)
	if !s.Saw("packed") || slices.ContainsFunc(s.Requests(), func(r stubmodel.Request) bool { return r.Results > 0 }) {
		t.Errorf("recorded %+v", s.Requests())
	}
}
