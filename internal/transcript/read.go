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

// The agents whose transcripts are read, as [events.Event] has them for its Source.
const (
	claudeCode = "claude-code"
	codex      = "codex"
)

// MaxLine bounds a line, in bytes; longer ones are skipped.
const MaxLine = 16 << 20

// Counts are those of a transcript.
type Counts struct {
	Lines   int // that are not empty
	Skipped int // of these, what could not be read
}

// Read calls each with the events of a transcript, in the order of the file, until it
// returns an error, which Read then returns. The id of an event about a tool is that of the
// call, which stands in several files where a session was resumed. Any other error is of
// reading.
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

// readLine reads up to the end of a line; of one that is too long it returns nothing.
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

// session is what is known of a session so far.
type session struct {
	id, cwd   string
	tools     map[string]string // names, by the id of a call
	agent, at string            // whose line is read, and its time
}

// events are those of a line.
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
	return s.ofCodex("response_item", line) // as older versions wrote it
}

// event makes an event of the line; none where its data is none. id is that of a call, empty for
// none.
func (s *session) event(id, name string, data map[string]any) []events.Event {
	if s.cwd != "" {
		data["cwd"] = s.cwd
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return nil
	}
	if !jsontext.Value(raw).IsValid() { // half a character, or a name twice
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

// prompt is what the user wrote.
func (s *session) prompt(text string) []events.Event {
	return s.event("", events.PromptSubmit, map[string]any{"prompt": text})
}

// call is a tool call.
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

// result is what came of a call.
func (s *session) result(id string, output json.RawMessage) []events.Event {
	tool, known := s.tools[id]
	if !known || len(output) == 0 {
		return nil
	}
	return s.event(id, events.ToolPost, map[string]any{"tool_name": tool, "tool_use_id": id, "tool_input": map[string]any{}, "tool_response": output})
}
