package redact

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// YAML is read for its syntax only: mappings, lists and texts. Nothing is
// converted, and anchors, aliases and tags have no place.

// document is the one document of a text.
func document(text []byte) (ast.Node, error) {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, syntaxError(err)
	}
	var body ast.Node
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil:
		case body != nil:
			return nil, errorAt(doc.Body, "a rules file is one document: take the second one (after ---) away")
		default:
			body = doc.Body
		}
	}
	if body == nil {
		return nil, errors.New("1:1: the file is empty: write {} for the defaults")
	}
	return body, nil
}

// pair is a member of a mapping.
type pair struct {
	key         string
	node, value ast.Node // node is the key
}

// mapping reads a mapping with texts for keys. The parser has seen that none
// stands there twice.
func mapping(node ast.Node) ([]pair, error) {
	var values []*ast.MappingValueNode
	switch n := node.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		return nil, errorAt(node, "must be a mapping (key: value)")
	}
	all := make([]pair, 0, len(values))
	for _, v := range values {
		key, ok := v.Key.(*ast.StringNode)
		if !ok {
			return nil, errorAt(v.Key, "a key is a text: quote it")
		}
		all = append(all, pair{key.Value, key, v.Value})
	}
	return all, nil
}

// text is the value, which must be a string.
func (m pair) text() (string, error) {
	switch n := m.value.(type) {
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.NullNode:
		return "", errorAt(m.node, "%s has no value: give it one, or take the key away", clip(m.key))
	}
	return "", errorAt(m.value, "%s must be a text: quote it", clip(m.key))
}

// errorAt is an error at a node, a mapping's at its first key:
// "line:column: message".
func errorAt(node ast.Node, format string, args ...any) error {
	if n, ok := node.(*ast.MappingNode); ok && len(n.Values) > 0 {
		node = n.Values[0]
	}
	if n, ok := node.(*ast.MappingValueNode); ok {
		node = n.Key
	}
	line, column := position(node.GetToken())
	return fmt.Errorf("%d:%d: %w", line, column, fmt.Errorf(format, args...))
}

func syntaxError(err error) error {
	var syntax yaml.Error
	if !errors.As(err, &syntax) || syntax.GetToken() == nil {
		return fmt.Errorf("1:1: %w", err)
	}
	line, column := position(syntax.GetToken())
	return fmt.Errorf("%d:%d: %s", line, column, strings.Join(strings.Fields(syntax.GetMessage()), " "))
}

func position(t *token.Token) (line, column int) {
	if t == nil || t.Position == nil {
		return 1, 1
	}
	return t.Position.Line, t.Position.Column
}
