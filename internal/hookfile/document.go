package hookfile

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// document is a YAML text as JSON, with the place of every value. YAML is read
// for its syntax only; what it means is decided by the strict rules of JSON.
type document struct {
	name   string
	lines  []string
	json   jsontext.Value
	places map[jsontext.Pointer]place
}

// place is where a value stands in the text.
type place struct {
	line, column int    // of the value, from 1, the column in characters
	keyLine      int    // of its key; zero where it has none
	keyColumn    int    //
	text         string // the value, where it is a string
	block        bool   // whether it is a block (| or >), which begins on the next line
}

// maxNesting bounds how deep a worker file may nest.
const maxNesting = 32

func newDocument(name string, source []byte) (*document, error) {
	d := &document{
		name:   name,
		lines:  strings.Split(strings.ReplaceAll(string(source), "\r\n", "\n"), "\n"),
		places: map[jsontext.Pointer]place{"": {line: 1, column: 1}},
	}
	file, err := parser.ParseBytes(source, 0)
	if err != nil {
		return nil, d.syntaxError(err)
	}
	var body ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			at := doc.Body.GetToken().Position
			return nil, d.errorIn(at.Line, at.Column, "", errors.New("a worker file is one document: take the second one (after ---) away"))
		}
		body = doc.Body
	}
	if body == nil {
		return nil, d.errorAt("", errors.New("the file is empty: it must have hooks"))
	}
	d.json, err = d.appendNode(nil, "", body, 1)
	return d, err
}

func (d *document) syntaxError(err error) error {
	var syntax yaml.Error
	if !errors.As(err, &syntax) || syntax.GetToken() == nil {
		return d.errorAt("", err)
	}
	message := strings.Join(strings.Fields(strings.ReplaceAll(syntax.GetMessage(), "\t", `\t`)), " ")
	if strings.Contains(message, `\t`) {
		message += ": YAML is indented with spaces, not tabs"
	}
	at := syntax.GetToken().Position
	message += d.quotingHint(at.Line)
	return d.errorIn(at.Line, at.Column, "", errors.New(message))
}

// appendNode appends a node as JSON and remembers where it stands.
func (d *document) appendNode(buf []byte, at jsontext.Pointer, node ast.Node, depth int) ([]byte, error) {
	p := d.places[at]
	p.line, p.column = position(node.GetToken())
	d.places[at] = p
	if depth > maxNesting {
		return nil, d.errorAt(at, fmt.Errorf("the file nests deeper than %d levels", maxNesting))
	}
	switch n := node.(type) {
	case *ast.MappingNode:
		return d.appendMapping(buf, at, n.Values, depth)
	case *ast.MappingValueNode:
		return d.appendMapping(buf, at, []*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		buf = append(buf, '[')
		for i, v := range n.Values {
			if i > 0 {
				buf = append(buf, ',')
			}
			var err error
			if buf, err = d.appendNode(buf, at.AppendToken(strconv.Itoa(i)), v, depth+1); err != nil {
				return nil, err
			}
		}
		return append(buf, ']'), nil
	case *ast.StringNode:
		return d.appendText(buf, at, n.Value, false), nil
	case *ast.LiteralNode:
		return d.appendText(buf, at, n.Value.Value, true), nil
	}
	return d.appendScalar(buf, at, node)
}

func (d *document) appendScalar(buf []byte, at jsontext.Pointer, node ast.Node) ([]byte, error) {
	switch n := node.(type) {
	case *ast.NullNode:
		if isTestData(at) && n.GetToken().Type == token.NullType {
			return append(buf, "null"...), nil
		}
		return nil, d.errorAt(at, errors.New("has no value: give it one, or take the key away"))
	case *ast.BoolNode:
		return strconv.AppendBool(buf, n.Value), nil
	case *ast.IntegerNode:
		switch v := n.Value.(type) {
		case int64:
			return strconv.AppendInt(buf, v, 10), nil
		case uint64:
			return strconv.AppendUint(buf, v, 10), nil
		}
	case *ast.FloatNode:
		if !math.IsNaN(n.Value) && !math.IsInf(n.Value, 0) {
			return strconv.AppendFloat(buf, n.Value, 'g', -1, 64), nil
		}
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode, *ast.TagNode:
		return nil, d.errorAt(at, errors.New("anchors (&), aliases (*), merges (<<) and tags (!) are not allowed: write the value out, or quote it"))
	}
	return nil, d.errorAt(at, fmt.Errorf("a %s has no place here", strings.ToLower(node.Type().String())))
}

// isTestData reports whether a value stands in the data of a test, where null is a
// value as any other.
func isTestData(at jsontext.Pointer) bool {
	return strings.HasPrefix(string(at), "/tests/") && strings.Contains(string(at), "/data/")
}

func (d *document) appendText(buf []byte, at jsontext.Pointer, text string, block bool) []byte {
	p := d.places[at]
	p.text, p.block = text, block
	d.places[at] = p
	buf, _ = jsontext.AppendQuote(buf, text) // replaces what is no UTF-8
	return buf
}

func (d *document) appendMapping(buf []byte, at jsontext.Pointer, values []*ast.MappingValueNode, depth int) ([]byte, error) {
	buf = append(buf, '{')
	for i, v := range values {
		line, column := position(v.Key.GetToken())
		key, ok := v.Key.(*ast.StringNode)
		if !ok {
			return nil, d.errorIn(line, column, at, errors.New("a key is a text: quote it"+d.quotingHint(line)))
		}
		member := at.AppendToken(key.Value)
		if first, again := d.places[member]; again {
			return nil, d.errorIn(line, column, at, fmt.Errorf("the key %q stands in line %d already", key.Value, first.keyLine))
		}
		d.places[member] = place{keyLine: line, keyColumn: column}
		if i > 0 {
			buf = append(buf, ',')
		}
		buf, _ = jsontext.AppendQuote(buf, key.Value)
		buf = append(buf, ':')
		var err error
		if buf, err = d.appendNode(buf, member, v.Value, depth+1); err != nil {
			return nil, err
		}
	}
	return append(buf, '}'), nil
}

func position(t *token.Token) (line, column int) {
	if t == nil || t.Position == nil {
		return 1, 1
	}
	return t.Position.Line, t.Position.Column
}
