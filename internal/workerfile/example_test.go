package workerfile_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds/basic"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func ExampleParse() {
	file, err := workerfile.Parse("worker.yaml", []byte(`
hooks:
  - id: path-guard
    events: [tool:pre]
    on_failure: deny
    match: data.tool_name in ['Write', 'Edit']
    cel:
      rules:
        - when: data.tool_input.file_path.startsWith('/etc/')
          deny: "Access denied: {{ data.tool_input.file_path }} is protected"
`), basic.Kinds(kind.Worker{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, h := range file.Hooks {
		result, err := h.Handler(context.Background(), events.Event{
			ID: "e1", Name: events.ToolPre,
			Data: json.RawMessage(`{"tool_name":"Write","tool_input":{"file_path":"/etc/passwd"}}`),
		})
		fmt.Println(h.Registration.ID, result.Action, result.Reason, err)
	}
	// Output:
	// path-guard deny Access denied: /etc/passwd is protected <nil>
}

func ExampleError_Snippet() {
	_, err := workerfile.Parse("worker.yaml", []byte(`
hooks:
  - id: path-guard
    events: [tool:pre]
    match: dta.tool_name == 'Write'
    cel: {rules: [{deny: "no"}]}
`), basic.Kinds(kind.Worker{}))
	for _, e := range workerfile.Errors(err) {
		fmt.Printf("%s\n%s", e, e.Snippet())
	}
	// Output:
	// worker.yaml:5:12: hooks[0].match: undeclared reference to 'dta' (did you mean 'data'?)
	//     5 |     match: dta.tool_name == 'Write'
	//       |            ^
}
