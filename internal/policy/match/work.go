package match

import (
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// sizer counts the elements of a value, including nested ones; 32 bytes of text count as one. It
// stops counting when the budget is certainly exceeded.
var sizer = types.NewSizeCalculator(
	types.SizeCalculatorMaxDepth(maxValueDepth),
	types.SizeCalculatorMaxTraversal(CostLimit*elementsPerUnit),
	types.SizeCalculatorStringUnitLength(bytesPerUnit),
)

// maxValueDepth is more than the depth that data and the literals around it can have.
const maxValueDepth = 256

// textLen returns the length of a string or of bytes, or 0 for other values.
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

// sizeOf returns the cost of traversing all of v.
func sizeOf(v ref.Val) uint64 {
	if isAggregate(v) {
		return uint64(sizer.AggregateSize(v)) / elementsPerUnit
	}
	return textLen(v) / bytesPerUnit
}

// compareWork returns the cost of a comparison. Values of different kinds are distinguished at
// once.
func compareWork(args []ref.Val) uint64 {
	if isAggregate(args[0]) && isAggregate(args[1]) {
		return sizeOf(args[0]) + sizeOf(args[1])
	}
	return min(textLen(args[0]), textLen(args[1])) / bytesPerUnit
}

// containsWork returns the cost of in: a key is looked up in a map, but an element is compared with
// all elements of a list.
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

// setsWork returns the cost of a sets function: the library compares each element of one list with
// each of the other, in both directions.
func setsWork(args []ref.Val) uint64 {
	return 2 * (1 + sizeOf(args[0])) * (1 + sizeOf(args[1])) * elementsPerUnit
}

// searchWork returns the cost of a search: the library tries every position of the text.
func searchWork(args []ref.Val) uint64 {
	return textLen(args[0]) * (1 + textLen(args[1])) / bytesPerUnit
}

// splitWork returns the cost of split: there may be as many parts as characters.
func splitWork(args []ref.Val) uint64 {
	return textLen(args[0]) / elementsPerUnit
}

// replaceWork returns the cost of replace. It counts the occurrences of the old text to determine
// the length of the result.
func replaceWork(args []ref.Val) uint64 {
	text, ok := args[0].(types.String)
	old, isText := args[1].(types.String)
	if !ok || !isText {
		return 0
	}
	n := uint64(strings.Count(string(text), string(old)))
	return (textLen(text) + n*textLen(args[2])) / bytesPerUnit
}

// joinWork returns the cost of join: every element is copied once, with the separator between them.
func joinWork(args []ref.Val) uint64 {
	work := sizeOf(args[0])
	if list, ok := args[0].(traits.Lister); ok && len(args) > 1 {
		n, _ := list.Size().(types.Int)
		work += uint64(n) * textLen(args[1]) / bytesPerUnit
	}
	return work
}

// formatWork returns the cost of format: every clause may print any argument.
func formatWork(args []ref.Val) uint64 {
	format, ok := args[0].(types.String)
	if !ok {
		return 0
	}
	clauses := uint64(strings.Count(string(format), "%"))
	return textLen(format)/bytesPerUnit + clauses*sizeOf(args[1])
}
