package redact_test

import (
	"fmt"

	"github.com/hookrouter/hookrouter/pkg/redact"
)

func ExampleObject() {
	raw := []byte(`{"to":"bob", "id":9007199254740993, "body":"My card is 4111-1111-1111-1111."}`)
	redacted, n := redact.Object(raw)
	fmt.Printf("%s\n%d replaced\n", redacted, n)
	// Output:
	// {"to":"bob", "id":9007199254740993, "body":"My card is [REDACTED:card]."}
	// 1 replaced
}
