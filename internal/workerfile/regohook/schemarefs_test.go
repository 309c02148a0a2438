package regohook_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/regohook"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func TestASchemaReadsNoFile(t *testing.T) {
	t.Parallel()
	path := filepath.ToSlash(filepath.Join(t.TempDir(), "secret.json"))
	if err := os.WriteFile(path, []byte(`{"type":"string","definitions":{"a":{"type":"string"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for schema, works := range map[string]bool{
		`{"type":"object"}`: true,
		`{"definitions":{"a":{"type":"object"}},"allOf":[{"$ref":"#/definitions/a"}],"properties":{"id":{"type":"string"}}}`: true,
		`{"$id":"https://example.com/a.json","definitions":{"a":{"type":"object"}},"allOf":[{"$ref":"#/definitions/a"}]}`:    true,
		`{"$ref":"file://PATH"}`:                                              false,
		`{"properties":{"n":{"$ref":"FILE://PATH"}}}`:                         false,
		`{"properties":{"n":{"$ref":"file:PATH"}}}`:                           false,
		`{"properties":{"n":{"$ref":"PATH"}}}`:                                false,
		`{"$id":"file://PATH","properties":{"n":{"$ref":"#/definitions/a"}}}`: false,
	} {
		schema = strings.ReplaceAll(schema, "PATH", path)
		for _, form := range []string{schema, fmt.Sprintf("%q", schema)} {
			for call, answer := range map[string]string{"json.match_schema({\"n\":1}, %s)": "[true, []]", "json.verify_schema(%s)": "[true, null]"} {
				policy := "package hooks\ndeny contains json.marshal(" + fmt.Sprintf(call, form) + ")\n"
				hook, err := regohook.New(kind.Section{}, regohook.Config{Policy: policy})
				if err != nil {
					t.Fatal(err)
				}
				result, err := hook.Handler(t.Context(), events.Event{Name: events.ToolPre, Data: json.RawMessage(`{}`)})
				if works && (err != nil || result.Reason != strings.ReplaceAll(answer, " ", "")) || !works && err == nil {
					t.Errorf("%s: %q, %v", policy, result.Reason, err)
				}
			}
		}
	}
}
