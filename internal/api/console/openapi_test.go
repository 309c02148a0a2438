package console_test

import (
	"encoding/json"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/api/console"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// schema has the members of an object, or joins those of others.
type schema struct {
	Ref        string `json:"$ref"`
	Properties map[string]any
	AllOf      []schema
}

// description is docs/openapi.yaml, as a JSON document.
func description(t *testing.T) (doc struct {
	Paths      map[string]map[string]json.RawMessage
	Components struct {
		Schemas map[string]schema
	}
}, whole any,
) {
	t.Helper()
	text, err := os.ReadFile("../../../docs/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text, err = yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, into := range []any{&doc, &whole} {
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	return doc, whole
}

func TestTheDescriptionIsServed(t *testing.T) {
	doc, whole := description(t)
	svc := newMemory()
	svc.ask(question("q"))
	c := open(t, console.Options{Approvals: svc})
	var paths []string
	for path, operations := range doc.Paths {
		paths = append(paths, path)
		for method, operation := range operations {
			if method == "parameters" {
				continue
			}
			var op struct{ Responses map[string]any }
			if err := json.Unmarshal(operation, &op); err != nil {
				t.Fatal(err)
			}
			for _, headers := range [][]string{nil, {"Authorization", ""}, {"Host", "evil.example"}} {
				r := ask(c, strings.ToUpper(method), strings.ReplaceAll(path, "{id}", "q"), "{}", headers...)
				if _, known := op.Responses[strconv.Itoa(r.Code)]; !known || r.Code == http.StatusNotFound {
					t.Errorf("%s %s answers %d, which is not described", method, path, r.Code)
				}
			}
		}
	}
	slices.Sort(paths)
	if diff := cmp.Diff([]string{"/v1/approvals", "/v1/approvals/{id}", "/v1/approvals/{id}/reveal", "/v1/approvals/{id}/view", "/v1/audit", "/v1/audit/state", "/v1/events", "/v1/freeze", "/v1/history", "/v1/link", "/v1/recent", "/v1/registry", "/v1/session", "/v1/session/proof", "/v1/why"}, paths); diff != "" {
		t.Error(diff)
	}
	references(t, whole, whole)
}

// references looks each $ref up.
func references(t *testing.T, whole, at any) {
	t.Helper()
	switch at := at.(type) {
	case []any:
		for _, v := range at {
			references(t, whole, v)
		}
	case map[string]any:
		for name, v := range at {
			references(t, whole, v)
			if ref, ok := v.(string); ok && name == "$ref" {
				target := whole
				for step := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
					object, _ := target.(map[string]any)
					target = object[step]
				}
				if target == nil {
					t.Errorf("%s is not there", ref)
				}
			}
		}
	}
}

func TestTheDescriptionHasTheMembersOfTheTypes(t *testing.T) {
	doc, _ := description(t)
	for name, typ := range map[string]reflect.Type{
		"ApprovalRequest": reflect.TypeFor[approval.Request](),
		"Record":          reflect.TypeFor[approval.Record](),
		"Answer":          reflect.TypeFor[approval.Answer](),
	} {
		described := map[string]bool{}
		var add func(schema)
		add = func(s schema) {
			for member := range s.Properties {
				described[member] = true
			}
			for _, part := range s.AllOf {
				if part.Ref != "" {
					part = doc.Components.Schemas[strings.TrimPrefix(part.Ref, "#/components/schemas/")]
				}
				add(part)
			}
		}
		add(doc.Components.Schemas[name])
		if diff := cmp.Diff(members(typ), described); diff != "" {
			t.Errorf("%s: the type (-) and the description (+):\n%s", name, diff)
		}
	}
}

// members are the names that a struct has in JSON.
func members(typ reflect.Type) map[string]bool {
	all := map[string]bool{}
	for _, f := range reflect.VisibleFields(typ) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			all[name] = true
		}
	}
	return all
}
