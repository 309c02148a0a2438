package events

import (
	"encoding/json"
	"strings"
)

// schema is the subset of JSON Schema that events need.
type schema struct {
	Schema      string             `json:"$schema,omitempty"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Type        string             `json:"type"`
	Enum        []string           `json:"enum,omitempty"`
	Format      string             `json:"format,omitempty"`
	Items       *schema            `json:"items,omitempty"`
	Properties  map[string]*schema `json:"properties,omitempty"`
	// Additional is set for objects only.
	Additional *bool `json:"additionalProperties,omitempty"`
}

// Schema returns the JSON Schema (draft 2020-12) of a standard event's data, by any spelling of its
// name. ok is false for an event that is not in the [Catalog]. The schema describes members if they
// are present: none is required, and others are allowed.
func Schema(name string) (text []byte, ok bool) {
	name = Canonical(name)
	for _, info := range Catalog() {
		if info.Name != name {
			continue
		}
		text, err := json.MarshalIndent(schemaOf(info), "", "  ")
		if err != nil {
			panic(err) // strings, maps and flags only
		}
		return text, true
	}
	return nil, false
}

func schemaOf(info Info) *schema {
	root := newSchema(Field{Type: TypeObject, Description: info.Summary})
	root.Schema = "https://json-schema.org/draft/2020-12/schema"
	root.Title = info.Name
	for _, f := range info.Fields {
		parent, name := root, f.Name
		if outer, inner, nested := strings.Cut(f.Name, "."); nested {
			parent, name = root.Properties[outer], inner
		}
		if parent.Properties == nil {
			parent.Properties = map[string]*schema{}
		}
		parent.Properties[name] = newSchema(f)
	}
	root.Properties["timestamp"].Format = "date-time"
	return root
}

func newSchema(f Field) *schema {
	s := &schema{Type: string(f.Type), Description: f.Description, Enum: f.Values}
	switch f.Type {
	case TypeObject:
		allowed := true
		s.Additional = &allowed
	case TypeStrings:
		s.Type, s.Items = "array", &schema{Type: string(TypeString)}
	case TypeString, TypeInteger, TypeBoolean:
	}
	return s
}
