package pinned

import (
	"fmt"

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
