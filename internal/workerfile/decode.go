package workerfile

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// strict rejects unknown keys. It applies to everything but hooks, whose unknown keys are their
// sections.
var strict = jsonv2.RejectUnknownMembers(true)

// maxMisfits bounds how many mismatched values of one section are reported.
const maxMisfits = 20

// decode decodes the value at a place of the document. It reports members that do not fit in the
// error, and leaves them out.
func (d *document) decode(at jsontext.Pointer, raw jsontext.Value, into any, opts ...jsonv2.Options) error {
	var wrong []error
	for range maxMisfits {
		err := jsonv2.Unmarshal(raw, into, opts...)
		if err == nil {
			break
		}
		sem, ok := errors.AsType[*jsonv2.SemanticError](err)
		if !ok {
			wrong = append(wrong, d.errorAt(at, err))
			break
		}
		wrong = append(wrong, d.misfit(at+sem.JSONPointer, sem))
		if sem.JSONPointer == "" {
			break
		}
		raw = without(raw, slices.Collect(sem.JSONPointer.Tokens()))
	}
	return errors.Join(wrong...)
}

// misfit returns an error that says why a value does not fit.
func (d *document) misfit(at jsontext.Pointer, sem *jsonv2.SemanticError) error {
	if errors.Is(sem.Err, jsonv2.ErrUnknownName) {
		return d.unknownKey(at, fieldNamesOf(sem.GoType), sem.GoType)
	}
	return d.errorAt(at, d.mismatch(at, sem))
}

// without returns a value without the part at a path of names: it removes a member, and replaces an
// element with null.
func without(raw jsontext.Value, path []string) jsontext.Value {
	if len(path) == 0 {
		return jsontext.Value("null")
	}
	var changed any
	if raw.Kind() == '[' {
		var elements []jsontext.Value
		_ = jsonv2.Unmarshal(raw, &elements) // it was decoded before
		if i, err := strconv.Atoi(path[0]); err == nil && i < len(elements) {
			elements[i] = without(elements[i], path[1:])
		}
		changed = elements
	} else {
		var members map[string]jsontext.Value
		_ = jsonv2.Unmarshal(raw, &members) // it was decoded before
		if len(path) == 1 {
			delete(members, path[0])
		} else {
			members[path[0]] = without(members[path[0]], path[1:])
		}
		changed = members
	}
	text, err := jsonv2.Marshal(changed)
	if err != nil {
		return raw
	}
	return text
}

// mismatch returns an error that says what a field must be, in YAML terms.
func (d *document) mismatch(at jsontext.Pointer, sem *jsonv2.SemanticError) error {
	switch {
	case sem.GoType == nil && sem.Err != nil:
		return sem.Err
	case sem.GoType == nil:
		return errors.New("is of another type")
	case sem.JSONKind == 0:
		return fmt.Errorf("must be %s", typeWord(sem.GoType))
	}
	return fmt.Errorf("must be %s, not %s%s", typeWord(sem.GoType), kindWord(sem.JSONKind), d.shapeHint(at, sem))
}
