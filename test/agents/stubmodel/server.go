package stubmodel

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Final is the final text of the model.
const Final = "The stub model has finished."

// maxRequest limits the size of a request, in bytes.
const maxRequest = 64 << 20

// Server is the model server: an [http.Handler] for all four APIs. The zero Server does not ask for
// commands.
type Server struct {
	// Command is the command that the agent must run in its shell tool.
	Command string
	// Next are the commands after that, one after each result.
	Next []string
	// Sub are the commands of sub-agents: of conversations without Prompt. Empty means the others.
	Sub []string
	// Prompt is the prompt of the agent.
	Prompt string
	// Before, if not nil, is called before each request with tools is answered.
	Before func(Request)

	mu       sync.Mutex
	requests []Request
}

// Request is one request of an agent to its model.
type Request struct {
	API   string   // responses, chat, messages or generate
	Tools []string // names of the tools that the model may call
	// Results is the number of tool results in the conversation.
	Results int
	Body    []byte
}

// object is a JSON object.
type object = map[string]any

// turn is an answer of the model: a call, or a text if tool is empty.
type turn struct {
	id    string // unique for each answer
	model string // as in the request
	tool  string
	args  string // a JSON object
	text  string
}

// dialect implements one API.
type dialect struct {
	name string
	path func(path string) bool
	// read returns the tools and the number of tool results in a request.
	read func(body object) (tools []string, results int)
	// whole and stream return or write a turn.
	whole  func(t turn) object
	stream func(s *events, t turn)
	// streamed reports whether the agent wants a stream.
	streamed func(path string, body object) bool
}

var dialects = []dialect{responses, chat, messages, generate}

// Requests returns the requests for answers of the model so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Saw reports whether a request contains a text. The text must not need escapes in JSON.
func (s *Server) Saw(text string) bool {
	for _, r := range s.Requests() {
		if bytes.Contains(r.Body, []byte(text)) {
			return true
		}
	}
	return false
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := body(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if r.Header.Get("Upgrade") != "" {
		http.Error(w, "there are no websockets here", http.StatusUpgradeRequired)
		return
	}
	for _, d := range dialects {
		if r.Method == http.MethodPost && d.path(r.URL.Path) {
			s.answer(w, r.URL.Path, d, raw)
			return
		}
	}
	around(w, r.URL.Path)
}

func (s *Server) answer(w http.ResponseWriter, path string, d dialect, raw []byte) {
	var in object
	if err := json.Unmarshal(raw, &in); err != nil {
		http.Error(w, "read the request: "+err.Error(), http.StatusBadRequest)
		return
	}
	request := Request{API: d.name, Body: raw}
	request.Tools, request.Results = d.read(in)
	s.mu.Lock()
	s.requests = append(s.requests, request)
	t := turn{id: fmt.Sprintf("stub_%d", len(s.requests)), text: Final}
	s.mu.Unlock()
	t.model, _ = in["model"].(string)
	if len(request.Tools) > 0 && s.Before != nil {
		s.Before(request)
	}
	commands := append([]string{s.Command}, s.Next...)
	if len(s.Sub) > 0 && !bytes.Contains(raw, []byte(s.Prompt)) {
		commands = s.Sub
	}
	if len(request.Tools) > 0 && request.Results < len(commands) {
		t.tool, t.args = call(d.name, request.Tools, commands[request.Results])
		if t.tool == "" {
			t.text = "There is no shell among the tools: " + strings.Join(request.Tools, ", ")
		}
	}
	if !d.streamed(path, in) {
		reply(w, d.whole(t))
		return
	}
	d.stream(newEvents(w), t)
}

// around answers other requests of agents.
func around(w http.ResponseWriter, path string) {
	switch {
	case strings.HasSuffix(path, "/count_tokens"):
		reply(w, object{"input_tokens": 10})
	case strings.HasSuffix(path, ":countTokens"):
		reply(w, object{"totalTokens": 10})
	case strings.HasSuffix(path, "/models"):
		model := object{"id": "stub", "object": "model", "type": "model", "name": "stub", "display_name": "stub", "created": 1, "owned_by": "stub"}
		reply(w, object{"object": "list", "data": []object{model}, "models": []object{}, "has_more": false})
	default:
		reply(w, object{})
	}
}

func body(r *http.Request) ([]byte, error) {
	in := io.LimitReader(r.Body, maxRequest)
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, err
		}
		in = io.LimitReader(z, maxRequest)
	}
	return io.ReadAll(in)
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // an error means that the agent has ended
}
