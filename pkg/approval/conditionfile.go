package approval

import (
	"errors"
	"math"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/hookrouter/hookrouter/internal/strictyaml"
)

// Limits of the conditions of a rule.
const (
	maxLabelGlobs = 64   // of one list
	maxDepth      = 1000 // of lineage in rules
)

// reader reads the value of one key. where names it in errors.
type reader func(m strictyaml.Pair, where string) error

// readMembers reads a mapping that has at least one key, and no keys but those of readers.
func readMembers(m strictyaml.Pair, where, known string, readers map[string]reader) error {
	members, err := strictyaml.Mapping(m.Value)
	if err != nil {
		return err
	}
	if len(members) == 0 {
		return strictyaml.ErrorAt(m.Value, "%s says nothing: known are %s", where, known)
	}
	for _, member := range members {
		read, ok := readers[member.Key]
		if !ok {
			return strictyaml.ErrorAt(member.Node, "%s: unknown key %q: known are %s", where, clip(member.Key, 80), known)
		}
		if err := read(member, where+"."+member.Key); err != nil {
			return err
		}
	}
	return nil
}

func labelCondition(m strictyaml.Pair, where string) (*LabelCondition, error) {
	var c LabelCondition
	return &c, readMembers(m, where, "any and none", map[string]reader{"any": globsTo(&c.Any), "none": globsTo(&c.None)})
}

func emitterCondition(m strictyaml.Pair, where string) (*EmitterCondition, error) {
	var c EmitterCondition
	return &c, readMembers(m, where, "id, role and proven", map[string]reader{
		"id": textTo(&c.ID, checkGlob), "role": textTo(&c.Role, checkRole), "proven": boolTo(&c.Proven),
	})
}

func lineageCondition(m strictyaml.Pair, where string) (*LineageCondition, error) {
	var c LineageCondition
	return &c, readMembers(m, where, "root, min_depth and max_depth", map[string]reader{
		"root": textTo(&c.Root, checkGlob), "min_depth": depthTo(&c.MinDepth), "max_depth": depthTo(&c.MaxDepth),
	})
}

func textTo(to *string, check func(string) error) reader {
	return func(m strictyaml.Pair, where string) error { return readText(to, m, where, check) }
}

func readText(to *string, m strictyaml.Pair, where string, check func(string) error) (err error) {
	if *to, err = m.Text(); err != nil {
		return err
	}
	if err := check(*to); err != nil {
		return strictyaml.ErrorAt(m.Value, "%s %w", where, err)
	}
	return nil
}

func globsTo(to *[]string) reader {
	return func(m strictyaml.Pair, where string) error {
		list, ok := m.Value.(*ast.SequenceNode)
		switch {
		case !ok:
			return strictyaml.ErrorAt(m.Value, "%s must be a list of globs", where)
		case len(list.Values) == 0 || len(list.Values) > maxLabelGlobs:
			return strictyaml.ErrorAt(m.Value, "%s has %d globs: 1 to %d are allowed", where, len(list.Values), maxLabelGlobs)
		}
		*to = make([]string, len(list.Values))
		for i, node := range list.Values {
			if err := readText(&(*to)[i], strictyaml.Pair{Key: m.Key, Node: node, Value: node}, where, checkGlob); err != nil {
				return err
			}
		}
		return nil
	}
}

func boolTo(to **bool) reader {
	return func(m strictyaml.Pair, where string) error {
		node, ok := m.Value.(*ast.BoolNode)
		if !ok {
			return strictyaml.ErrorAt(m.Value, "%s must be true or false", where)
		}
		*to = &node.Value
		return nil
	}
}

func depthTo(to **int) reader {
	return func(m strictyaml.Pair, where string) error {
		depth := uint64(math.MaxUint64)
		if node, ok := m.Value.(*ast.IntegerNode); ok {
			if n, ok := node.Value.(uint64); ok {
				depth = n
			}
		}
		if depth > maxDepth {
			return strictyaml.ErrorAt(m.Value, "%s must be a number from 0 to %d", where, maxDepth)
		}
		n := int(depth)
		*to = &n
		return nil
	}
}

// checkRole returns an error unless senders can have the role.
func checkRole(role string) error {
	switch role {
	case "agent", "approver", "operator", "admin":
		return nil
	}
	return errors.New("must be agent, approver, operator or admin, not \"" + clip(strings.TrimSpace(role), 80) + "\"")
}
