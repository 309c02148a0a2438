package pinned

import (
	"fmt"
	"strconv"

	"github.com/goccy/go-yaml/ast"

	"github.com/hookrouter/hookrouter/internal/strictyaml"
)

// maxFile bounds a guards file, in bytes.
const maxFile = 1 << 20

// Parse reads a guards file, YAML or JSON; name is what errors call it:
//
//	guards:
//	  - id: command-guard
//	    events: [tool:pre]
//	    priority: -100      # as it registers; 0 where it is missing
//	    match: tool.class == 'shell'   # as it registers; always where it is missing
//
// Unknown keys are refused. The error is like "guards.yaml:3:5: …".
func Parse(name string, text []byte) (*Guards, error) {
	list, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	guards, err := New(list...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return guards, nil
}

func parse(text []byte) ([]Guard, error) {
	top, err := strictyaml.Document(text, maxFile, `write "guards: []" for no guards`)
	if err != nil {
		return nil, err
	}
	var list []Guard
	for _, m := range top {
		if m.Key != "guards" {
			return nil, strictyaml.ErrorAt(m.Node, "unknown key %q: only guards is known", m.Key)
		}
		nodes, ok := m.Value.(*ast.SequenceNode)
		if !ok {
			return nil, strictyaml.ErrorAt(m.Value, "guards must be a list (lines that begin with -)")
		}
		for _, node := range nodes.Values {
			guard, err := parseGuard(node)
			if err != nil {
				return nil, err
			}
			list = append(list, guard)
		}
	}
	return list, nil
}

func parseGuard(node ast.Node) (g Guard, err error) {
	members, err := strictyaml.Mapping(node)
	if err != nil {
		return g, err
	}
	for _, m := range members {
		switch m.Key {
		case "id":
			g.ID, err = m.Text()
		case "match":
			g.Match, err = m.Text()
		case "priority":
			g.Priority, err = strconv.Atoi(m.Value.GetToken().Value)
			if err != nil {
				err = strictyaml.ErrorAt(m.Value, "priority must be an integer")
			}
		case "events":
			g.Events, err = texts(m)
		default:
			err = strictyaml.ErrorAt(m.Node, "unknown key %q: known are id, events, priority and match", m.Key)
		}
		if err != nil {
			return g, err
		}
	}
	if err := g.Check(); err != nil {
		return g, strictyaml.ErrorAt(node, "%w", err)
	}
	return g, nil
}

func texts(m strictyaml.Pair) ([]string, error) {
	nodes, ok := m.Value.(*ast.SequenceNode)
	if !ok {
		return nil, strictyaml.ErrorAt(m.Value, "%s must be a list", m.Key)
	}
	var list []string
	for _, node := range nodes.Values {
		text, err := strictyaml.Pair{Key: m.Key, Node: m.Node, Value: node}.Text()
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}
