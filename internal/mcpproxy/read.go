package mcpproxy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// reads are the methods that return text of the server to the model or its user, as a tool's result
// does, or that send the server a query. For each, tool is the name of the tool that hooks see, and
// what is the parameter that names what is read.
var reads = map[string]struct {
	tool, what string
	kind       jsontext.Kind
}{
	"resources/read":      {"read_resource", "uri", '"'},
	"resources/subscribe": {"subscribe_resource", "uri", '"'},
	"prompts/get":         {"get_prompt", "name", '"'},
	"completion/complete": {"complete", "argument", '{'},
}

// isLikeRead reports whether a server could take a method for one of reads.
func isLikeRead(method string) bool {
	for name := range reads {
		if isOf(method, name) {
			return true
		}
	}
	return false
}

// protocolParams are the parameters that every request may have. All other parameters are specific
// to the method.
var protocolParams = []string{"_meta", "inputResponses", "requestState"}

// parseRead parses the parameters of a request in reads. Hooks see it as a tool call with the
// parameters as its input.
func parseRead(m message) (*call, error) {
	params, err := m.params(append([]string{"uri", "name", "arguments", "ref", "argument", "context"}, protocolParams...)...)
	if err != nil {
		return nil, err
	}
	read := reads[m.method]
	c := &call{tool: read.tool, method: m.method}
	if value, _ := params.Get(read.what); value.Kind() != read.kind || string(value) == `""` {
		return nil, fmt.Errorf("its parameter %q must be %s", read.what, kinds[read.kind])
	}
	seen := []string{"inputResponses"}
	w := events.NewObjectWriter(make([]byte, 0, len(params.Bytes())))
	for name, value := range params.All() {
		if !slices.Contains(protocolParams, name) {
			w.Raw(quoted(name), value)
			seen = append(seen, name)
		}
	}
	c.input, c.params = w.End(), paramsBeside(params, seen...)
	err = c.readProtocolParams(params)
	return c, err
}

var kinds = map[jsontext.Kind]string{'"': "a text", '{': "an object"}

// reads reports whether a call is a request that reads from the server.
func (c *call) reads() bool { return c.method != "" }

// withParams returns a request with other parameters. It keeps the [protocolParams].
func withParams(m message, input []byte) (message, error) {
	changed, err := events.ParseObject(input)
	if err != nil {
		return m, err
	}
	params, err := m.params()
	if err != nil {
		return m, err
	}
	for _, name := range protocolParams {
		if _, ok := changed.Get(name); ok {
			return m, errors.New("hooks can't change " + name)
		}
		if value, ok := params.Get(name); ok {
			if changed, err = events.ParseObject(with(changed, name, value)); err != nil {
				return m, err
			}
		}
	}
	return parse(with(m.members, "params", changed.Bytes()))
}
