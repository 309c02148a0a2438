package workerfile

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/hookrouter/hookrouter/internal/strictyaml"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// document is a YAML text as JSON, with the place of every value and the errors found so far. The
// syntax is that of YAML; the values follow the strict rules of JSON.
type document struct {
	name   string
	kinds  map[string]kind.Kind
	lines  []string
	json   jsontext.Value // with null for a value that is not valid in a worker file
	places map[jsontext.Pointer]place
	odd    bool // a key is not a string, so the mappings may not be the intended ones
	faults
}

// place is the position of a value in the text.
type place struct {
	line, column int        // of the value, starting at 1; the column counts characters
	keyLine      int        // of its key; zero if it has none
	keyColumn    int        // of its key
	text         string     // the value, if it is a string
	style        token.Type // how the string is written
}

// maxNesting bounds how deep a worker file may nest.
const maxNesting = 32

// newDocument parses a YAML text. It returns an error if the text can't be parsed, and notes other
// errors.
func newDocument(name string, source []byte, kinds map[string]kind.Kind) (*document, error) {
	d := &document{name: name, kinds: kinds, places: map[jsontext.Pointer]place{"": {line: 1, column: 1}}, faults: newFaults()}
	source, err := d.readText(source)
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseBytes(source, 0, parser.AllowDuplicateMapKey())
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
			return nil, d.errorIn(at.Line, at.Column, "", errors.New("a worker file is one document: remove the second one (after ---)"))
		}
		body = doc.Body
	}
	if body == nil {
		return nil, d.errorAt("", errors.New("the file is empty: it must have hooks"))
	}
	d.json = d.appendNode(nil, "", body, 1)
	if d.odd {
		return nil, d.err()
	}
	return d, nil
}

// appendNode appends a node as JSON and records its place.
func (d *document) appendNode(buf []byte, at jsontext.Pointer, node ast.Node, depth int) []byte {
	p := d.places[at]
	p.line, p.column = strictyaml.Position(beginning(node))
	d.places[at] = p
	if depth > maxNesting {
		return d.appendFault(buf, at, fmt.Errorf("the file nests deeper than %d levels", maxNesting))
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
			buf = d.appendNode(buf, at.AppendToken(strconv.Itoa(i)), v, depth+1)
		}
		return append(buf, ']')
	case *ast.StringNode:
		return d.appendText(buf, at, n.Value, n.GetToken().Type)
	case *ast.LiteralNode:
		return d.appendText(buf, at, n.Value.Value, n.GetToken().Type)
	}
	return d.appendScalar(buf, at, node)
}

// beginning returns the first token of a node. A mapping without braces begins at its first key.
func beginning(node ast.Node) *token.Token {
	switch n := node.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return n.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken()
	}
	return node.GetToken()
}

// appendFault notes an error of a value and appends null in its place.
func (d *document) appendFault(buf []byte, at jsontext.Pointer, err error) []byte {
	d.note(d.errorAt(at, err))
	return append(buf, "null"...)
}

func (d *document) appendScalar(buf []byte, at jsontext.Pointer, node ast.Node) []byte {
	switch n := node.(type) {
	case *ast.NullNode:
		if isTestData(at) && n.GetToken().Type == token.NullType {
			return append(buf, "null"...)
		}
		return d.appendFault(buf, at, errors.New("has no value: give it one ({} where nothing needs to be said), or remove the key"))
	case *ast.BoolNode:
		return strconv.AppendBool(buf, n.Value)
	case *ast.IntegerNode:
		switch v := n.Value.(type) {
		case int64:
			return strconv.AppendInt(buf, v, 10)
		case uint64:
			return strconv.AppendUint(buf, v, 10)
		}
	case *ast.FloatNode:
		if !math.IsNaN(n.Value) && !math.IsInf(n.Value, 0) {
			return strconv.AppendFloat(buf, n.Value, 'g', -1, 64)
		}
	case *ast.TagNode:
		return d.appendFault(buf, at, errors.New(`tags (!) are not allowed: put a text that begins with ! in quotes, like "!has(data.x)"`))
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return d.appendFault(buf, at, errors.New("anchors (&), aliases (*) and merges (<<) are not allowed: write the value out, or quote it"))
	}
	return d.appendFault(buf, at, fmt.Errorf("a %s has no place here", strings.ToLower(node.Type().String())))
}

// isTestData reports whether a value is in the data of a test, where null is a valid value.
func isTestData(at jsontext.Pointer) bool {
	return strings.HasPrefix(string(at), "/tests/") && strings.Contains(string(at), "/data/")
}

func (d *document) appendText(buf []byte, at jsontext.Pointer, text string, style token.Type) []byte {
	p := d.places[at]
	p.text, p.style = text, style
	d.places[at] = p
	buf, _ = jsontext.AppendQuote(buf, text) // replaces invalid UTF-8
	return buf
}

func (d *document) appendMapping(buf []byte, at jsontext.Pointer, values []*ast.MappingValueNode, depth int) []byte {
	buf = append(buf, '{')
	begin := len(buf)
	for _, v := range values {
		line, column := strictyaml.Position(v.Key.GetToken())
		key, ok := v.Key.(*ast.StringNode)
		if !ok {
			d.odd = true
			d.noteKey(line, column, at, errors.New("a key is a text: quote it"+d.quotingHint(line)))
			continue
		}
		member := at.AppendToken(key.Value)
		if first, again := d.places[member]; again {
			d.noteKey(line, column, at, fmt.Errorf("the key %q stands in line %d already", key.Value, first.keyLine))
			continue
		}
		d.places[member] = place{keyLine: line, keyColumn: column}
		if len(buf) > begin {
			buf = append(buf, ',')
		}
		buf, _ = jsontext.AppendQuote(buf, key.Value)
		buf = append(buf, ':')
		buf = d.appendNode(buf, member, v.Value, depth+1)
	}
	return append(buf, '}')
}

// noteKey notes an error at a key that is left out of its mapping.
func (d *document) noteKey(line, column int, mapping jsontext.Pointer, err error) {
	e := d.errorIn(line, column, mapping, err)
	e.at = mapping.AppendToken(fmt.Sprintf("%d:%d", line, column))
	d.note(e)
}
