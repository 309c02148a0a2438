package kind_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/hookfile/kind"
)

func ExampleFieldError() {
	fmt.Println(kind.At("/concurrency", "must be 1 to 1024, not %d", 5000))
	fmt.Println(&kind.FieldError{Pointer: "/rules/0/when", Line: 1, Column: 6, Err: errors.New("undeclared reference to 'dta'")})
	// Output:
	// /concurrency: must be 1 to 1024, not 5000
	// /rules/0/when: 1:6: undeclared reference to 'dta'
}

func ExampleWithTime() {
	ctx := kind.WithTime(context.Background(), time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC))
	fmt.Println(kind.Now(ctx))
	fmt.Println(time.Since(kind.Now(context.Background())) < time.Hour)
	// Output:
	// 2026-01-05 12:00:00 +0000 UTC
	// true
}
