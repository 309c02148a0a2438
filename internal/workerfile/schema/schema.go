// Package schema is the JSON Schema (2020-12) of worker files, for editors. It is made of
// the configurations of all kinds and builtins and of their comments by `go generate`,
// and a test keeps it current. What it accepts may still not load: it knows no CEL.
package schema

import (
	"bytes"
	_ "embed" // the schema
)

//go:generate go test -run TestTheSchemaIsCurrent -update .

//go:embed worker.schema.json
var worker []byte

// JSON is the text of the schema. The slice is the caller's.
func JSON() []byte { return bytes.Clone(worker) }
