package kind_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

func ExampleFieldError() {
	fmt.Println(kind.At("/concurrency", "must be 1 to 1024, not %d", 5000))
	fmt.Println(&kind.FieldError{Pointer: "/rules/0/when", Line: 1, Column: 6, Err: errors.New("undeclared reference to 'dta'")})
	// Output:
	// /concurrency: must be 1 to 1024, not 5000
	// /rules/0/when: 1:6: undeclared reference to 'dta'
}

func ExampleClosest() {
	known := []string{"path-guard", "command-guard"}
	fmt.Printf("%q %q %q\n", kind.Closest("path-gard", known), kind.Closest("PathGuard", known), kind.Closest("limits", known))
	fmt.Printf("%q %q\n", kind.ClosestWithin(1, "tool:per", []string{"tool:pre"}), kind.ClosestWithin(1, "tool:use", []string{"tool:pre"}))
	// Output:
	// "path-guard" "path-guard" ""
	// "tool:pre" ""
}

func ExampleWithin() {
	err := errors.Join(kind.At("/a", "must be 1"), kind.At("/b", "must be 2"))
	fmt.Println(kind.Within("/options", err))
	// Output:
	// /options/a: must be 1
	// /options/b: must be 2
}

func ExampleWithTime() {
	ctx := kind.WithTime(context.Background(), time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC))
	fmt.Println(kind.Now(ctx))
	fmt.Println(time.Since(kind.Now(context.Background())) < time.Hour)
	// Output:
	// 2026-01-05 12:00:00 +0000 UTC
	// true
}
