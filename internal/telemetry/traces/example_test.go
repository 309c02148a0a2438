package traces_test

import (
	"fmt"
	"strings"

	"github.com/hookrouter/hookrouter/internal/telemetry/traces"
)

func Example() {
	traces, err := traces.Parse([]byte(`{"data":[{"traceID":"0af7","processes":{"p1":{"serviceName":"hook-router"}},"spans":[
		{"spanID":"2b","operationName":"call guard","startTime":1000,"duration":20,"processID":"p1",
		 "references":[{"refType":"CHILD_OF","traceID":"0af7","spanID":"1a"}],"tags":[{"key":"hookrouter.action","value":"deny"}]},
		{"spanID":"1a","operationName":"hooks.emit tool:pre","startTime":990,"duration":50,"processID":"p1"}]}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range traces[0].Spans {
		fmt.Println(strings.Repeat("  ", s.Depth)+s.Name, s.Service, s.Took)
	}
	// Output:
	// hooks.emit tool:pre hook-router 50µs
	//   call guard hook-router 20µs
}
