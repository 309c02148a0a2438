package match

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Input is one event as expressions see it. It decodes the data and builds the tool at most once,
// when an expression first needs them. It is not safe for concurrent use. Create it with
// [NewInput].
type Input struct {
	event, session types.String
	raw            []byte
	data           map[string]any // nil until decoded
	err            error          // why decoding failed
	tool           map[string]any // nil until built
	call           events.Object  // the source of the tool
	hasPayload     bool           // the tool has its payloadFields
	toolErr        error          // why building the tool or its payload failed
	attributes     map[string]string
	now            time.Time
}

// NewInput returns the input for an event. data is a JSON object; empty data means the empty
// object. data is retained and must not change while the input is used.
func NewInput(event, sessionID string, data []byte) *Input {
	return &Input{event: types.String(event), session: types.String(sessionID), raw: data}
}

// With sets the attributes of the event, which include its labels, emitter and lineage, and returns
// in. They must not change while the input is used.
func (in *Input) With(attributes map[string]string) *Input {
	in.attributes = attributes
	return in
}

// At sets the current time for expressions [InRule], and returns in. Otherwise it is the zero time.
func (in *Input) At(now time.Time) *Input {
	in.now = now.UTC()
	return in
}

// variables is an Input as an activation of the CEL library. It must be decoded first.
type variables Input

// ResolveName returns the value of a variable.
func (in *variables) ResolveName(name string) (any, bool) {
	switch name {
	case "data":
		return in.data, in.data != nil
	case "tool":
		return in.tool, in.tool != nil
	case "labels":
		return events.Event{Extensions: in.attributes}.Labels(), true
	case "emitter":
		return (*Input)(in).Emitter(), true
	case "lineage":
		return (*Input)(in).Lineage(), true
	case "event":
		return in.event, true
	case "session_id":
		return in.session, true
	case "now":
		return types.Timestamp{Time: in.now}, true
	}
	return nil, false
}

// Parent returns nil: there are no other variables.
func (in *variables) Parent() cel.Activation { return nil }

func (in *Input) decode() error {
	if in.data != nil || in.err != nil {
		return in.err
	}
	in.data, in.err = decodeObject(in.raw)
	if in.err != nil {
		in.err = fmt.Errorf("match: decode data: %w", in.err)
	}
	return in.err
}

// makeTool builds the tool without its payload. It parses only the parts of the data that the tool
// needs. For an event that is not about a tool it only checks the name.
func (in *Input) makeTool() error {
	if in.tool != nil || in.toolErr != nil {
		return in.toolErr
	}
	if !events.IsToolEvent(string(in.event)) {
		in.tool = noTool
		return nil
	}
	data := in.raw
	if len(data) == 0 {
		data = []byte("{}")
	}
	o, err := events.ParseObject(data)
	if err != nil {
		in.toolErr = fmt.Errorf("match: decode data: %w", err)
		return in.toolErr
	}
	tool, ok := o.Tool(string(in.event))
	if ok {
		in.call = o
	}
	in.tool = toolValue(tool)
	return nil
}

// addPayload builds the tool including its [payloadFields].
func (in *Input) addPayload() error {
	if err := in.makeTool(); err != nil || in.hasPayload || in.call.Len() == 0 {
		return err
	}
	input, err := decodeObject(ToolInput(in.call))
	if err != nil {
		in.toolErr = fmt.Errorf("match: decode the tool's input: %w", err)
		return in.toolErr
	}
	in.tool["input"], in.hasPayload = input, true
	if texts := in.call.ToolTexts(); texts != nil {
		in.tool["texts"] = texts
	}
	return nil
}

func decodeObject(raw []byte) (map[string]any, error) {
	if len(raw) == 0 {
		return map[string]any{}, nil
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw))
	if k := dec.PeekKind(); k != '{' && k > 0 {
		return nil, errors.New("it is not a JSON object")
	}
	v, err := decodeValue(dec)
	if err != nil {
		return nil, err
	}
	if rest := bytes.TrimLeft(raw[dec.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return nil, errors.New("something follows the JSON object")
	}
	return v.(map[string]any), nil
}

// decodeValue reads one value as Go types that the CEL library uses without conversion: nil, bool,
// int64, float64, string, []any, map[string]any.
func decodeValue(dec *jsontext.Decoder) (any, error) {
	tok, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	if dec.StackDepth() > events.MaxDepth {
		return nil, fmt.Errorf("it nests deeper than %d levels", events.MaxDepth)
	}
	switch tok.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		return tok.Bool(), nil
	case '"':
		return tok.String(), nil
	case '0':
		return number(tok.String()), nil
	case '[':
		list := []any{}
		for dec.PeekKind() != ']' {
			v, err := decodeValue(dec)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := dec.ReadToken()
		return list, err
	default:
		object := map[string]any{}
		for dec.PeekKind() != '}' {
			name, err := dec.ReadToken()
			if err != nil {
				return nil, err
			}
			key := name.String() // the token is invalid after the next read
			if object[key], err = decodeValue(dec); err != nil {
				return nil, err
			}
		}
		_, err := dec.ReadToken()
		return object, err
	}
}

// number keeps 64-bit integers exact. A number beyond the range of a double becomes an infinity,
// not an error: otherwise one such number could make every match fail.
func number(text string) any {
	if !strings.ContainsAny(text, ".eE") {
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return i
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return math.NaN() // the decoder has checked the syntax
	}
	return f
}
