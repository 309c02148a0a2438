package kind_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

func ExampleDecided() {
	ctx := kind.WithWhy(context.Background(), func(part jsontext.Pointer) { fmt.Println(part) })
	kind.Decided(ctx, "rules", 2)
	kind.Decided(context.Background(), "rules", 3) // without WithWhy
	// Output: /rules/2
}

func TestDecidedCostsNothingWhereNobodyAsks(t *testing.T) {
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() { kind.Decided(ctx, "rules", 1000) }); n != 0 {
		t.Errorf("%v allocations; want none", n)
	}
}

func TestLacksIsAnErrorOfTheFieldAndOfTheMachine(t *testing.T) {
	why := errors.New("no such program")
	var err error = kind.Lacks("/command", why)
	field, isField := errors.AsType[*kind.FieldError](err)
	if _, isMachine := errors.AsType[*kind.MachineError](err); !isMachine || !isField || field.Pointer != "/command" || !errors.Is(err, why) || err.Error() != "/command: no such program" {
		t.Errorf("Lacks = %#v", err)
	}
}
