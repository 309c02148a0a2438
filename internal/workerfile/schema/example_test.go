package schema_test

import (
	"encoding/json"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/workerfile/schema"
)

func ExampleJSON() {
	var s struct {
		Title      string
		Properties map[string]any
	}
	err := json.Unmarshal(schema.JSON(), &s)
	fmt.Println(s.Title, len(s.Properties), err)
	// Output: hook-worker 4 <nil>
}
