package drift

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// fields returns the members of a JSON document with their types, such as tool_input.command:
// string.
func fields(document []byte) (map[string]string, error) {
	var v any
	if err := json.Unmarshal(document, &v); err != nil {
		return nil, err
	}
	found := map[string]string{}
	collect(found, "", v)
	return found, nil
}

func collect(into map[string]string, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			at := name
			if path != "" {
				at = path + "." + name
			}
			into[at] = kind(member)
			collect(into, at, member)
		}
	case []any:
		for _, element := range v {
			collect(into, path+"[]", element)
		}
	}
}

func kind(v any) string {
	switch v.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case float64:
		return "number"
	case bool:
		return "boolean"
	}
	return "null"
}

// compare returns the differences. gone are members that are missing or have another type, on which
// a dialect may rely; added are new members.
func compare(before, now map[string]string) (gone, added []string) {
	for _, name := range slices.Sorted(maps.Keys(before)) {
		switch is, there := now[name]; {
		case !there:
			gone = append(gone, name+" is gone")
		case is != before[name]:
			gone = append(gone, fmt.Sprintf("%s is %s and was %s", name, is, before[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if _, there := before[name]; !there {
			added = append(added, fmt.Sprintf("%s is new: %s", name, now[name]))
		}
	}
	return gone, added
}
