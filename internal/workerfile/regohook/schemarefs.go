package regohook

import (
	"errors"
	"net/url"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

var errSchemaFile = errors.New("a schema refers to a file")

// withoutFiles keeps the functions that take a JSON Schema from reading files that a "$ref" names.
// OPA restricts the hosts that a schema may come from, but not files. OPA's functions are global to
// the process, so they are replaced once.
var withoutFiles = sync.OnceFunc(func() {
	for name, schema := range map[string]int{ast.JSONMatchSchema.Name: 1, ast.JSONSchemaVerify.Name: 0} {
		evaluate := topdown.GetBuiltin(name)
		topdown.RegisterBuiltinFunc(name, func(c topdown.BuiltinContext, operands []*ast.Term, yield func(*ast.Term) error) error {
			if namesFiles(operands[schema].Value) {
				return errSchemaFile
			}
			return evaluate(c, operands, yield)
		})
	}
})

// namesFiles reports whether a schema, given as an object or as text, refers to anything but its
// own parts and URLs. OPA itself rejects a text that can't be parsed.
func namesFiles(schema ast.Value) bool {
	if text, isText := schema.(ast.String); isText {
		var err error
		if schema, err = ast.ValueFromReader(strings.NewReader(string(text))); err != nil {
			return false
		}
	}
	found := false
	ast.WalkTerms(ast.NewTerm(schema), func(term *ast.Term) bool {
		if object, is := term.Value.(ast.Object); is {
			object.Foreach(func(key, value *ast.Term) {
				text, isText := value.Value.(ast.String)
				switch name, _ := key.Value.(ast.String); {
				case !isText:
				case name == "$ref":
					found = found || !strings.HasPrefix(string(text), "#") && !ofTheWeb(string(text))
				case name == "$id" || name == "id": // the base of the refs below it
					found = found || strings.Contains(string(text), ":") && !ofTheWeb(string(text))
				}
			})
		}
		return found
	})
	return found
}

func ofTheWeb(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
