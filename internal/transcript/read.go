package transcript

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// The supported agents, as in the Source of [events.Event].
const (
	claudeCode = "claude-code"
	codex      = "codex"
)

// MaxLine is the maximum length of a line, in bytes; longer ones are skipped.
const MaxLine = 16 << 20

// Counts are the statistics of a transcript.
type Counts struct {
	Lines   int // non-empty lines
	Skipped int // lines that could not be parsed
}

// Read calls each with the events of a transcript, in the order of the file. If each returns an
// error, Read stops and returns it. Other errors are read errors. The id of an event about a tool
// is that of the call, which occurs in several files if a session was resumed.
func Read(in io.Reader, each func(events.Event) error) (Counts, error) {
	s := session{tools: map[string]string{}}
	var n Counts
	for text := bufio.NewReaderSize(in, 64<<10); ; {
		line, long, err := readLine(text)
		if line = bytes.TrimSpace(line); len(line) > 0 || long {
			n.Lines++
			var l record
			if long || json.Unmarshal(line, &l) != nil {
				n.Skipped++
			} else {
				for _, ev := range s.events(l, line) {
					if err := each(ev); err != nil {
						return n, err
					}
				}
			}
		}
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, fmt.Errorf("read transcript: %w", err)
		}
	}
}

// readLine reads up to the end of a line. It returns no data for a line that is too long.
func readLine(in *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > MaxLine; !long {
			line = append(line, part...)
		} else {
			line = nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// record is a line of either agent.
type record struct {
	Type      string          `json:"type"`
	Timestamp string          `json:"timestamp"`
	Payload   json.RawMessage `json:"payload"` // of Codex
	SessionID string          `json:"sessionId"`
	Cwd       string          `json:"cwd"`
	IsMeta    bool            `json:"isMeta"`
	Message   json.RawMessage `json:"message"`
}

// session is the state of a session while its transcript is read.
type session struct {
	id, cwd   string
	tools     map[string]string // names of tools, by call id
	agent, at string            // the agent and the time of the current line
}

// events returns the events of a line.
func (s *session) events(l record, line []byte) []events.Event {
	s.agent, s.at = codex, l.Timestamp
	if _, err := time.Parse(time.RFC3339, s.at); err != nil {
		s.at = ""
	}
	switch l.Type {
	case "user", "assistant":
		s.agent = claudeCode
		s.id, s.cwd = cmp.Or(l.SessionID, s.id), cmp.Or(l.Cwd, s.cwd)
		return s.ofClaude(l)
	case "session_meta", "turn_context", "response_item", "event_msg":
		return s.ofCodex(l.Type, l.Payload)
	}
	return s.ofCodex("response_item", line) // the format of older versions
}

// event returns an event of the current line, or none if its data can't be encoded. id is the id of
// the call, if any.
func (s *session) event(id, name string, data map[string]any) []events.Event {
	if s.cwd != "" {
		data["cwd"] = s.cwd
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return nil
	}
	if !jsontext.Value(raw).IsValid() { // an unpaired surrogate, or a duplicate name
		var whole any
		if json.Unmarshal(raw, &whole) != nil {
			return nil
		}
		if raw, err = json.Marshal(whole); err != nil {
			return nil
		}
	}
	return []events.Event{{ID: id, Source: s.agent, Name: name, Session: cmp.Or(s.id, "unknown"), Time: s.at, Data: raw}}
}

// prompt returns the event of a user's prompt.
func (s *session) prompt(text string) []events.Event {
	return s.event("", events.PromptSubmit, map[string]any{"prompt": text})
}

// call returns the event of a tool call.
func (s *session) call(id, tool string, input json.RawMessage) []events.Event {
	if id != "" {
		s.tools[id] = tool
	}
	data := map[string]any{"tool_name": tool, "tool_use_id": id}
	if len(input) > 0 {
		data["tool_input"] = input
	}
	return s.event(id, events.ToolPre, data)
}

// result returns the event of a call's result.
func (s *session) result(id string, output json.RawMessage) []events.Event {
	tool, known := s.tools[id]
	if !known || len(output) == 0 {
		return nil
	}
	return s.event(id, events.ToolPost, map[string]any{"tool_name": tool, "tool_use_id": id, "tool_input": map[string]any{}, "tool_response": output})
}
