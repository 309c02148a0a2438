package strictyaml

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Checker is a type that validates its values.
type Checker interface{ Check() error }

// Decode decodes a file with one mapping into the struct that v points to. limit and empty are as
// in [Document]. It supports structs with json tags, maps with string keys, slices, strings,
// integers and booleans. It does not convert types, and rejects unknown keys and keys without a
// value. It calls Check on each decoded [Checker]. Errors start with "line:column: ".
func Decode(text []byte, limit int, empty string, v any) error {
	top, err := document(text, limit, empty)
	if err != nil {
		return err
	}
	return decode(top, "the file", reflect.ValueOf(v).Elem())
}

// decode decodes node. name identifies it in errors.
func decode(node ast.Node, name string, into reflect.Value) error {
	if err := decodeKind(node, name, into); err != nil {
		return err
	}
	if c, ok := reflect.TypeAssert[Checker](into.Addr()); ok {
		if err := c.Check(); err != nil {
			return ErrorAt(node, "%w", err)
		}
	}
	return nil
}

func decodeKind(node ast.Node, name string, into reflect.Value) error {
	if _, missing := node.(*ast.NullNode); missing {
		return ErrorAt(node, "%s has no value: give it one, or remove the key", Clip(name))
	}
	switch into.Kind() {
	case reflect.Struct:
		return decodeStruct(node, into)
	case reflect.Map:
		return decodeMap(node, into)
	case reflect.Slice:
		return decodeSlice(node, name, into)
	case reflect.Bool:
		b, ok := node.(*ast.BoolNode)
		if !ok {
			return ErrorAt(node, "%s must be true or false", name)
		}
		into.SetBool(b.Value)
	case reflect.Int:
		if _, ok := node.(*ast.IntegerNode); ok {
			if n, err := strconv.Atoi(node.GetToken().Value); err == nil {
				into.SetInt(int64(n))
				return nil
			}
		}
		return ErrorAt(node, "%s must be an integer", name)
	default:
		text, err := Pair{Key: name, Node: node, Value: node}.Text()
		if err != nil {
			return err
		}
		into.SetString(text)
	}
	return nil
}

func decodeStruct(node ast.Node, into reflect.Value) error {
	members, err := Mapping(node)
	if err != nil {
		return err
	}
	fields, known := map[string]reflect.Value{}, []string{}
	for i := range into.NumField() {
		key, _, _ := strings.Cut(into.Type().Field(i).Tag.Get("json"), ",")
		fields[key] = into.Field(i)
		known = append(known, key)
	}
	for _, m := range members {
		field, ok := fields[m.Key]
		if !ok {
			return ErrorAt(m.Node, "unknown key %q: %s", Clip(m.Key), knownKeys(known))
		}
		if err := decode(m.Value, m.Key, field); err != nil {
			return err
		}
	}
	return nil
}

func knownKeys(keys []string) string {
	if len(keys) == 1 {
		return "only " + keys[0] + " is known"
	}
	last := len(keys) - 1
	return "known are " + strings.Join(keys[:last], ", ") + " and " + keys[last]
}

func decodeMap(node ast.Node, into reflect.Value) error {
	members, err := Mapping(node)
	if err != nil {
		return err
	}
	into.Set(reflect.MakeMap(into.Type()))
	for _, m := range members {
		value := reflect.New(into.Type().Elem()).Elem()
		if err := decode(m.Value, Clip(m.Key), value); err != nil {
			return err
		}
		into.SetMapIndex(reflect.ValueOf(m.Key), value)
	}
	return nil
}

func decodeSlice(node ast.Node, name string, into reflect.Value) error {
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		return ErrorAt(node, "%s must be a list", name)
	}
	into.Set(reflect.MakeSlice(into.Type(), len(list.Values), len(list.Values)))
	for i, item := range list.Values {
		if err := decode(item, name, into.Index(i)); err != nil {
			return err
		}
	}
	return nil
}
