package strictyaml

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/hookrouter/hookrouter/internal/shorten"
)

// Parse returns the single document of a file. empty is the error text that says what to write into
// an empty file. Errors start with "line:column: ".
func Parse(text []byte, empty string) (ast.Node, error) {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, syntaxError(err)
	}
	var body ast.Node
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil:
		case body != nil:
			return nil, ErrorAt(doc.Body, "a rule file is one document: remove the second one (after ---)")
		default:
			body = doc.Body
		}
	}
	if body == nil {
		return nil, errors.New("1:1: the file is empty: " + empty)
	}
	return body, nil
}

// Document parses a file with one mapping, of at most limit bytes. empty is as in [Parse]. Errors
// start with "line:column: ".
func Document(text []byte, limit int, empty string) ([]Pair, error) {
	body, err := document(text, limit, empty)
	if err != nil {
		return nil, err
	}
	return Mapping(body)
}

func document(text []byte, limit int, empty string) (ast.Node, error) {
	if len(text) > limit {
		return nil, fmt.Errorf("1:1: the file has %d bytes: at most %d are allowed", len(text), limit)
	}
	return Parse(text, empty)
}

// Pair is a member of a mapping.
type Pair struct {
	Key         string
	Node, Value ast.Node // Node is the key
}

// Mapping returns the members of a mapping with string keys. Errors are as from [ErrorAt].
func Mapping(node ast.Node) ([]Pair, error) {
	var values []*ast.MappingValueNode
	switch n := node.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		return nil, ErrorAt(node, "must be a mapping (key: value)")
	}
	all := make([]Pair, 0, len(values))
	for _, v := range values {
		key, ok := v.Key.(*ast.StringNode)
		if !ok {
			return nil, ErrorAt(v.Key, "a key is a text: quote it")
		}
		all = append(all, Pair{key.Value, key, v.Value})
	}
	return all, nil
}

// Text returns the value, which must be a string. Errors are as from [ErrorAt].
func (m Pair) Text() (string, error) {
	switch n := m.Value.(type) {
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.NullNode:
		return "", ErrorAt(m.Node, "%s has no value: give it one, or remove the key", Clip(m.Key))
	}
	return "", ErrorAt(m.Value, "%s must be a text: quote it", Clip(m.Key))
}

// ErrorAt returns an error at the position of a node, or of the first key of a mapping:
// "line:column: message".
func ErrorAt(node ast.Node, format string, args ...any) error {
	if n, ok := node.(*ast.MappingNode); ok && len(n.Values) > 0 {
		node = n.Values[0]
	}
	if n, ok := node.(*ast.MappingValueNode); ok {
		node = n.Key
	}
	line, column := Position(node.GetToken())
	return fmt.Errorf("%d:%d: %w", line, column, fmt.Errorf(format, args...))
}

func syntaxError(err error) error {
	var syntax yaml.Error
	if !errors.As(err, &syntax) || syntax.GetToken() == nil {
		return fmt.Errorf("1:1: %w", err)
	}
	line, column := Position(syntax.GetToken())
	return fmt.Errorf("%d:%d: %s", line, column, strings.Join(strings.Fields(syntax.GetMessage()), " "))
}

// Position returns the position of a token, starting at 1; 1 and 1 if it is unknown.
func Position(t *token.Token) (line, column int) {
	if t == nil || t.Position == nil {
		return 1, 1
	}
	return t.Position.Line, t.Position.Column
}

// Clip cuts a key for a message.
func Clip(text string) string { return shorten.Runes(text, 80, "...") }
