package kind_test

import (
	"errors"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/hookfile/kind"
)

func ExampleFieldError() {
	fmt.Println(kind.At("/concurrency", "must be 1 to 1024, not %d", 5000))
	fmt.Println(&kind.FieldError{Pointer: "/rules/0/when", Line: 1, Column: 6, Err: errors.New("undeclared reference to 'dta'")})
	// Output:
	// /concurrency: must be 1 to 1024, not 5000
	// /rules/0/when: 1:6: undeclared reference to 'dta'
}
