package mcpproxy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Methods that bring text of the server into the model's context, as a tool's result does.
const (
	resourcesRead = "resources/read"
	promptsGet    = "prompts/get"
)

// protocolParams are the parameters that every request may have; the others say what it asks for.
var protocolParams = []string{"_meta", "inputResponses", "requestState"}

// parseRead reads what a resources/read or prompts/get asks for. Hooks see the call of a tool that
// reads, with the parameters as its input.
func parseRead(m message) (*call, error) {
	params, err := m.params("uri", "name", "arguments", "_meta", "inputResponses", "requestState")
	if err != nil {
		return nil, err
	}
	c := &call{tool: "read_resource", method: m.method}
	name := "uri"
	if m.method == promptsGet {
		c.tool, name = "get_prompt", "name"
	}
	if text, _ := params.GetString(name); text == "" {
		return nil, fmt.Errorf("its parameter %q must be a text", name)
	}
	w := events.NewObjectWriter(make([]byte, 0, len(params.Bytes())))
	for name, value := range params.All() {
		if !slices.Contains(protocolParams, name) {
			w.Raw(quoted(name), value)
		}
	}
	c.input = w.End()
	err = c.readProtocolParams(params)
	return c, err
}

// reads reports whether a call is a request that reads from the server.
func (c *call) reads() bool { return c.method != "" }

// withParams is a request with other parameters, but for the [protocolParams], which stay.
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
