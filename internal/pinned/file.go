package pinned

import (
	"fmt"

	"github.com/hookrouter/hookrouter/internal/strictyaml"
)

// maxFile is the maximum size of a guards file, in bytes.
const maxFile = 1 << 20

// Parse parses a guards file in YAML or JSON. name identifies the file in errors:
//
//	guards:
//	  - id: command-guard
//	    events: [tool:pre]
//	    priority: -100      # as registered; default 0
//	    match: tool.class == 'shell'   # as registered; default always
//
// Unknown keys are errors. Errors are like "guards.yaml:3:5: …".
func Parse(name string, text []byte) (*Guards, error) {
	var file struct {
		Guards []Guard `json:"guards"`
	}
	if err := strictyaml.Decode(text, maxFile, `write "guards: []" for no guards`, &file); err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	guards, err := New(file.Guards...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return guards, nil
}
