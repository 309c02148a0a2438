package events

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// standardNames are all names of the specification and of the in-process
// implementations it describes, aliases included.
var standardNames = []string{
	"agent:complete", "agent:spawn",
	"approval:denied", "approval:granted", "approval:required",
	"artifact:read", "artifact:write",
	"cancel:completed", "cancel:requested",
	"content_block:delta", "content_block:end", "content_block:start",
	"context:compaction", "context:include", "context:post_compact", "context:pre-compact", "context:pre_compact",
	"decision:agent_resolution", "decision:context_resolution", "decision:tool_resolution",
	"error:orchestration", "error:provider", "error:tool",
	"execution:complete", "execution:end", "execution:start",
	"llm:request", "llm:response",
	"module:load_failed", "module:on_session_ready_failed",
	"orchestrator:complete",
	"plan:end", "plan:start",
	"policy:violation",
	"prompt:complete", "prompt:submit",
	"provider:error", "provider:request", "provider:resolve", "provider:response", "provider:retry", "provider:throttle",
	"provider:tool_sequence_repaired",
	"session:end", "session:fork", "session:resume", "session:start",
	"thinking:delta", "thinking:final",
	"tool:error", "tool:post", "tool:pre",
	"user:notification",
}

func TestCatalogHasEveryStandardName(t *testing.T) {
	var got []string
	for _, info := range Catalog() {
		got = append(append(got, info.Name), info.Aliases...)
		if info.Name != Canonical(info.Name) {
			t.Errorf("%s is not the canonical name", info.Name)
		}
		for _, alias := range info.Aliases {
			if Canonical(alias) != info.Name {
				t.Errorf("alias %s is %s, not %s", alias, Canonical(alias), info.Name)
			}
		}
		if !strings.HasSuffix(info.Summary, ".") {
			t.Errorf("%s: summary %q is no sentence", info.Name, info.Summary)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(standardNames, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestCatalogIsInAlphabeticalOrder(t *testing.T) {
	if !slices.IsSortedFunc(Catalog(), func(a, b Info) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the catalog is not sorted by name")
	}
}

func TestCatalogHasEveryConstant(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "standard.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var constants []string
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok {
			name, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			if err := CheckName(name); err != nil {
				t.Error(err)
			}
			constants = append(constants, name)
		}
		return true
	})
	var names []string
	for _, info := range Catalog() {
		names = append(names, info.Name)
	}
	slices.Sort(constants)
	if diff := cmp.Diff(constants, names); diff != "" {
		t.Errorf("the constants of standard.go and the catalog differ (-constants +catalog):\n%s", diff)
	}
}

func TestCatalogMayBeChangedByItsCaller(t *testing.T) {
	first := Catalog()
	for i := range first {
		first[i].Name = "x"
		for j := range first[i].Fields {
			first[i].Fields[j].Name = "x"
		}
		for j := range first[i].Aliases {
			first[i].Aliases[j] = "x"
		}
	}
	if second := Catalog(); second[0].Name == "x" || second[0].Fields[0].Name == "x" || Spellings(ToolError)[1] == "x" {
		t.Error("a change of one catalog shows in the next")
	}
}

// schemaTypes are the types of data.go.
var schemaTypes = map[string]any{
	SessionStart:               SessionStartData{},
	SessionEnd:                 SessionEndData{},
	PromptSubmit:               PromptSubmitData{},
	ToolPre:                    ToolPreData{},
	ToolPost:                   ToolPostData{},
	ToolError:                  ToolErrorData{},
	ProviderError:              ProviderErrorData{},
	ErrorOrchestration:         ErrorOrchestrationData{},
	OrchestratorComplete:       OrchestratorCompleteData{},
	AgentSpawn:                 AgentSpawnData{},
	AgentComplete:              AgentCompleteData{},
	ContextPreCompact:          ContextPreCompactData{},
	UserNotification:           UserNotificationData{},
	DecisionToolResolution:     DecisionToolResolutionData{},
	DecisionAgentResolution:    DecisionAgentResolutionData{},
	DecisionContextResolution:  DecisionContextResolutionData{},
	ModuleOnSessionReadyFailed: ModuleOnSessionReadyFailedData{},
	ModuleLoadFailed:           ModuleLoadFailedData{},
}

func TestDataTypesHaveTheFieldsOfTheCatalog(t *testing.T) {
	withSchema := 0
	for _, info := range Catalog() {
		if len(info.Fields) > 2 {
			withSchema++
			if schemaTypes[info.Name] == nil {
				t.Errorf("%s has a schema but no type", info.Name)
			}
		}
		v, ok := schemaTypes[info.Name]
		if !ok {
			continue
		}
		want := map[string]FieldType{}
		for _, f := range info.Fields {
			want[f.Name] = f.Type
		}
		if diff := cmp.Diff(want, fieldsOf(t, reflect.TypeOf(v), "")); diff != "" {
			t.Errorf("%s (-catalog +struct):\n%s", info.Name, diff)
		}
	}
	if withSchema != len(schemaTypes) {
		t.Errorf("%d events have a schema, %d a type", withSchema, len(schemaTypes))
	}
}

// fieldsOf lists the members that a struct reads.
func fieldsOf(t *testing.T, typ reflect.Type, prefix string) map[string]FieldType {
	t.Helper()
	fields := map[string]FieldType{}
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		name = prefix + name
		switch {
		case f.Type == reflect.TypeFor[json.RawMessage]():
			fields[name] = TypeObject
		case f.Type.Kind() == reflect.Struct:
			fields[name] = TypeObject
			maps.Copy(fields, fieldsOf(t, f.Type, name+"."))
		case f.Type.Kind() == reflect.String:
			fields[name] = TypeString
		case f.Type.Kind() == reflect.Int64:
			fields[name] = TypeInteger
		case f.Type.Kind() == reflect.Bool:
			fields[name] = TypeBoolean
		case f.Type == reflect.TypeFor[[]string]():
			fields[name] = TypeStrings
		default:
			t.Errorf("%s has the type %s, which no field has", name, f.Type)
		}
	}
	return fields
}

func TestSchemaDescribesEveryField(t *testing.T) {
	type property struct {
		Type        string              `json:"type"`
		Description string              `json:"description"`
		Enum        []string            `json:"enum"`
		Items       *property           `json:"items"`
		Properties  map[string]property `json:"properties"`
		Additional  *bool               `json:"additionalProperties"`
	}
	type document struct {
		Schema string `json:"$schema"`
		Title  string `json:"title"`
		property
	}
	for _, info := range Catalog() {
		text, ok := Schema(info.Name)
		if !ok {
			t.Errorf("%s has no schema document", info.Name)
			continue
		}
		var doc document
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Errorf("%s: %v", info.Name, err)
			continue
		}
		if doc.Schema != "https://json-schema.org/draft/2020-12/schema" || doc.Title != info.Name || doc.Type != "object" ||
			doc.Additional == nil || !*doc.Additional {
			t.Errorf("%s: the document is not of draft 2020-12 or closed to other members:\n%s", info.Name, text)
		}
		got := []Field{}
		for name, p := range doc.Properties {
			f := Field{Name: name, Type: FieldType(p.Type), Description: p.Description, Values: p.Enum}
			if p.Type == "array" && p.Items != nil && p.Items.Type == "string" {
				f.Type = TypeStrings
			}
			got = append(got, f)
			for inner, q := range p.Properties {
				got = append(got, Field{Name: name + "." + inner, Type: FieldType(q.Type), Description: q.Description, Values: q.Enum})
			}
		}
		byName := func(a, b Field) int { return strings.Compare(a.Name, b.Name) }
		slices.SortFunc(got, byName)
		want := slices.SortedFunc(slices.Values(info.Fields), byName)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-catalog +schema):\n%s", info.Name, diff)
		}
	}
}

func TestSchemaIsFoundByAnyName(t *testing.T) {
	canonical, _ := Schema("tool:error")
	alias, ok := Schema("error:tool")
	if !ok || string(alias) != string(canonical) {
		t.Errorf("the schema of an alias is %s", alias)
	}
	if text, ok := Schema("my:event"); ok || text != nil {
		t.Errorf("an event of one's own has the schema %s", text)
	}
}
