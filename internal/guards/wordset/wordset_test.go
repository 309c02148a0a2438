package wordset_test

import (
	"fmt"

	"github.com/hookrouter/hookrouter/internal/guards/wordset"
)

func ExampleOf() {
	readers := wordset.Of("cat head tail")
	fmt.Println(readers["head"], readers["rm"])
	// Output: true false
}
