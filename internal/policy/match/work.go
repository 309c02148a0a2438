package match

import (
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// sizer counts the elements of a value with everything in it, 32 bytes of text
// for one. It stops counting where the budget is spent in any case.
var sizer = types.NewSizeCalculator(
	types.SizeCalculatorMaxDepth(maxValueDepth),
	types.SizeCalculatorMaxTraversal(CostLimit*elementsPerUnit),
	types.SizeCalculatorStringUnitLength(bytesPerUnit),
)

// maxValueDepth is deeper than data and literals around it can be.
const maxValueDepth = 256

// textLen is the length of a string or of bytes, 0 for anything else.
func textLen(v ref.Val) uint64 {
	switch v := v.(type) {
	case types.String:
		return uint64(len(v))
	case types.Bytes:
		return uint64(len(v))
	}
	return 0
}

func isAggregate(v ref.Val) bool {
	switch v.(type) {
	case traits.Lister, traits.Mapper:
		return true
	}
	return false
}

// sizeOf is the cost of going through all of v.
func sizeOf(v ref.Val) uint64 {
	if isAggregate(v) {
		return uint64(sizer.AggregateSize(v)) / elementsPerUnit
	}
	return textLen(v) / bytesPerUnit
}

// compareWork: two values of different kinds are told apart at once.
func compareWork(args []ref.Val) uint64 {
	if isAggregate(args[0]) && isAggregate(args[1]) {
		return sizeOf(args[0]) + sizeOf(args[1])
	}
	return min(textLen(args[0]), textLen(args[1])) / bytesPerUnit
}

// containsWork: a key is looked up in a map, an element is compared with all of
// a list.
func containsWork(args []ref.Val) uint64 {
	list, ok := args[1].(traits.Lister)
	if !ok {
		return textLen(args[0]) / bytesPerUnit
	}
	if isAggregate(args[0]) {
		return sizeOf(list)
	}
	n, _ := list.Size().(types.Int)
	return uint64(n) * (1 + textLen(args[0])/bytesPerUnit) / elementsPerUnit
}

// setsWork: the library compares each element of the one with each of the other, and
// back.
func setsWork(args []ref.Val) uint64 {
	return 2 * (1 + sizeOf(args[0])) * (1 + sizeOf(args[1])) * elementsPerUnit
}

// searchWork: the library looks at every position of the text.
func searchWork(args []ref.Val) uint64 {
	return textLen(args[0]) * (1 + textLen(args[1])) / bytesPerUnit
}

// splitWork: there may be as many parts as there are characters.
func splitWork(args []ref.Val) uint64 {
	return textLen(args[0]) / elementsPerUnit
}

// replaceWork counts how often the old text occurs, to know how long the result
// will be.
func replaceWork(args []ref.Val) uint64 {
	text, ok := args[0].(types.String)
	old, isText := args[1].(types.String)
	if !ok || !isText {
		return 0
	}
	n := uint64(strings.Count(string(text), string(old)))
	return (textLen(text) + n*textLen(args[2])) / bytesPerUnit
}

// joinWork: every element is copied once, and the separator between them.
func joinWork(args []ref.Val) uint64 {
	work := sizeOf(args[0])
	if list, ok := args[0].(traits.Lister); ok && len(args) > 1 {
		n, _ := list.Size().(types.Int)
		work += uint64(n) * textLen(args[1]) / bytesPerUnit
	}
	return work
}

// formatWork: every clause may write any argument.
func formatWork(args []ref.Val) uint64 {
	format, ok := args[0].(types.String)
	if !ok {
		return 0
	}
	clauses := uint64(strings.Count(string(format), "%"))
	return textLen(format)/bytesPerUnit + clauses*sizeOf(args[1])
}
