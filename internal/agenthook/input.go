package agenthook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/agenthook/supervisor"
	"github.com/hookrouter/hookrouter/internal/shorten"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// maxInput limits the document of an agent, in bytes. The router accepts less: see max_payload of
// its NATS server.
const maxInput = supervisor.MaxDocument

// maxName limits an event's name in messages and in the names of unknown events, in bytes.
const maxName = 64

// input is the parsed input of an agent to its hook.
type input struct {
	event   Event
	known   bool            // the event is in the dialect
	data    json.RawMessage // data of the standard event
	members events.Object   // of data
	skip    bool            // it repeats an earlier event
}

// tool returns the name of the tool that the event is about.
func (in input) tool() string {
	name, _ := in.members.GetString("tool_name")
	return name
}

// readInput parses an agent's document. native is the event on the command line, for documents that
// do not name it. A known event in the document overrides it, so that a wrong command line does not
// bypass a gate. An event that only the command line names must be known, since it may be
// misspelled. The event is returned even with an error.
func readInput(d Dialect, native string, document []byte) (input, error) {
	named := native
	members, err := events.ParseObject(document)
	said, _ := members.GetString(d.EventMember)
	if said != "" {
		if _, known := d.Event(said); known || native == "" {
			native = said
		}
	}
	in := input{}
	in.event, in.known = d.Event(native)
	if in.event.Gated() && slices.ContainsFunc(d.Foreign, func(name string) bool { _, there := members.Get(name); return there }) {
		return input{}, fmt.Errorf("the message has another form than that of %s: another program runs the hook, or the event has another name in the settings", d.Agent)
	}
	switch {
	case err != nil && len(strings.TrimSpace(string(document))) == 0:
		return in, errors.New("the agent sent its hook nothing")
	case err != nil:
		return in, fmt.Errorf("the agent's message can't be read: %w", err)
	case native == "":
		return in, fmt.Errorf("the agent's message does not say which event it is: name it on the command line, as in hook-agent %s EVENT", d.Name)
	case !in.known:
		meant, has := d.byLetters(native)
		other, of, gated := gatedElsewhere(native)
		name := shorten.Bytes(native, maxName, "…")
		switch {
		case has && native == named && (gated || said == ""):
			return in, fmt.Errorf("%q is not an event of %s: write %s in its settings and in the command of the hook, as in hook-agent %s %s, or have hookctl connect %s write them", name, d.Agent, meant.Native, d.Name, meant.Native, d.Name)
		case gated:
			return in, fmt.Errorf("%q is not an event of %s, but it looks like %s of %s, which is gated: hook-agent is set up for another agent, or the event is misspelled", name, d.Agent, of.Native, other)
		case said == "": // only the command line names the event
			return in, fmt.Errorf("%q in the command of the hook is not an event of %s: have hookctl connect %s write it", name, d.Agent, d.Name)
		}
		in.event = Event{Native: native, Name: customName(d.Name, native)}
	}
	if text, ok := members.GetString(in.event.Skip); ok && text == "" {
		in.skip = true
	}
	in.data = standard(d, in.event, members)
	in.members, err = events.ParseObject(in.data)
	return in, err
}

// standard returns the data of the standard event: the document with renamed and copied members.
func standard(d Dialect, e Event, document events.Object) []byte {
	w := events.NewObjectWriter(make([]byte, 0, len(document.Bytes())+256))
	for name, value := range document.All() {
		if to, ok := d.Rename[name]; ok {
			if _, taken := document.Get(to); !taken {
				name = to
			}
		}
		quoted, _ := jsontext.AppendQuote(nil, name) // parsed as JSON before
		w.Raw(string(quoted[1:len(quoted)-1]), value)
	}
	if _, has := document.Get("tool_name"); e.call != nil && !has {
		tool, input := e.call(document)
		w.String("tool_name", tool)
		w.Raw("tool_input", input)
	}
	for _, to := range slices.Sorted(maps.Keys(e.Copy)) { // the same bytes each time: a resent event must equal the first
		value, ok := document.Get(e.Copy[to])
		if _, taken := document.Get(to); ok && !taken {
			w.Raw(to, value)
		}
	}
	return w.End()
}

// customName returns the event name for an unknown hook event: the dialect, and the agent's name
// for the event with invalid characters replaced.
func customName(dialect, native string) string {
	part := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
			return c
		}
		return '-'
	}, native)
	return dialect + ":" + part[:min(len(part), maxName)]
}

// readAll reads the whole document. A document longer than maxInput is an error.
func readAll(in io.Reader) ([]byte, error) {
	document, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the agent's message can't be read: %w", err)
	case len(document) > maxInput:
		return nil, fmt.Errorf("the agent's message is longer than %d MiB", maxInput>>20)
	}
	return document, nil
}
