// Package schema provides the JSON Schema (2020-12) of worker files, for editors. `go generate`
// generates it from the configurations of all kinds and builtins and from their comments, and a
// test keeps it up to date. A file that it accepts may still fail to load: it does not check CEL,
// for example.
package schema

import (
	"bytes"
	_ "embed" // the schema
)

//go:generate go test -run TestTheSchemaIsCurrent -update .

//go:embed worker.schema.json
var worker []byte

// JSON returns the text of the schema. The caller may modify the slice.
func JSON() []byte { return bytes.Clone(worker) }
