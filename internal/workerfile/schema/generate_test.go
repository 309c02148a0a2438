package schema_test

import (
	"bytes"
	"encoding"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"

	"github.com/hookrouter/hookrouter/internal/builtin/all"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/celhook"
	"github.com/hookrouter/hookrouter/internal/workerfile/exechook"
	"github.com/hookrouter/hookrouter/internal/workerfile/httphook"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds"
	"github.com/hookrouter/hookrouter/internal/workerfile/regohook"
	"github.com/hookrouter/hookrouter/internal/workerfile/schema"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

var update = flag.Bool("update", false, "write the schema")

func TestTheSchemaIsCurrent(t *testing.T) {
	want := generate(t)
	if *update {
		if err := os.WriteFile("internal/workerfile/schema/worker.schema.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(want), string(schema.JSON())); diff != "" {
		t.Errorf("the schema is out of date: run go generate ./internal/workerfile/schema (-want +got):\n%s", diff)
	}
}

// generate generates the schema of everything that hook-worker knows. It changes to the root of the
// module, to find the comments.
func generate(t *testing.T) []byte {
	t.Helper()
	t.Chdir("../../..")
	g := &generator{t: t}
	g.Anonymous, g.RequiredFromJSONSchemaTags, g.DoNotReference, g.Mapper = true, true, true, g.known
	for _, dir := range []string{"internal/workerfile", "internal/builtin", "internal/guards", "pkg/chain"} {
		if err := g.AddGoComments("github.com/hookrouter/hookrouter", dir); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range g.CommentMap {
		text = docLink.ReplaceAllString(strings.Join(strings.Fields(text), " "), "$1")
		g.CommentMap[name] = inYAML(name[strings.LastIndexByte(name, '.')+1:], text)
	}
	root := object("What hook-worker answers for.")
	root.Version, root.Title = jsonschema.Version, "hook-worker"
	root.Properties.Set("nats", g.of(workerfile.NATS{}, "How to reach the bus; flags and environment win over it."))
	root.Properties.Set("hooks", list(g.hook(), "The hooks; their ids differ."))
	root.Properties.Set("contributors", list(g.contributor(), "What gives a value to a channel when somebody asks for it; their ids differ from those of hooks."))
	root.Properties.Set("tests", list(g.of(workerfile.Test{}, ""), "What must come of which events; hook-worker test runs them."))
	root.AnyOf = []*jsonschema.Schema{{Required: []string{"hooks"}}, {Required: []string{"contributors"}}}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// inYAML adapts the comment of a field for a reader who knows only its key.
func inYAML(field, text string) string {
	text = strings.ReplaceAll(text, "; nil means", "; absent means")
	rest, ok := strings.CutPrefix(text, field+" ")
	if !ok {
		return text
	}
	return strings.ToLower(hump.ReplaceAllString(field, "${1}_$2")) + " " + rest
}

var hump = regexp.MustCompile(`([a-z])([A-Z])`)

var docLink = regexp.MustCompile(`\[\*?([A-Za-z.]+)\]`)

// generator generates schemas of Go types.
type generator struct {
	jsonschema.Reflector
	t       *testing.T
	current reflect.Type // the type with alternatives that is being generated
}

func (g *generator) of(config any, description string) *jsonschema.Schema {
	s := g.Reflect(config)
	s.Version = ""
	if description != "" {
		s.Description = description
	}
	return s
}

// hook returns the schema of a hook: a registration and one kind.
func (g *generator) hook() *jsonschema.Schema {
	s := g.of(chain.Registration{}, "A hook: a registration, and one kind that says what it does.")
	for _, own := range []string{"instance", "protocol", "channels"} { // the worker sets them itself
		s.Properties.Delete(own)
	}
	s.Properties.Set("async", &jsonschema.Schema{Type: "boolean", Description: "async is short for mode: async."})
	s.Required = []string{"id"}
	all := kinds.All(kind.Worker{}).Kinds
	for _, name := range slices.Sorted(maps.Keys(all)) {
		k, needs := all[name], []string{name, "events"}
		if k.Members == nil {
			s.Properties.Set(name, g.of(k.Config, k.Summary))
		} else {
			s.Properties.Set(name, g.members(k))
			needs = needs[:1] // a builtin has default events
		}
		s.OneOf = append(s.OneOf, &jsonschema.Schema{Required: needs})
	}
	return s
}

// contributor returns the schema of a contributor: its channels, and one source of values.
func (g *generator) contributor() *jsonschema.Schema {
	s, one := object("A contributor: its channels, and what it gives them."), uint64(1)
	s.Properties.Set("id", &jsonschema.Schema{Type: "string", Description: "The id that it is registered under."})
	s.Properties.Set("name", &jsonschema.Schema{Type: "string", Description: "A name for people."})
	s.Properties.Set("channels", &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "string"}, MinItems: &one, Description: "The channels that it gives to."})
	s.Properties.Set("data", &jsonschema.Schema{Description: "What it gives, as it is written."})
	s.Required, s.OneOf = []string{"id", "channels"}, []*jsonschema.Schema{{Required: []string{"data"}}}
	all := kinds.All(kind.Worker{}).Kinds
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name].Contribute != nil {
			s.Properties.Set(name, g.of(all[name].Gives, ""))
			s.OneOf = append(s.OneOf, &jsonschema.Schema{Required: []string{name}})
		}
	}
	return s
}

// members returns the schema of a kind that is one of several: its name, alone or with its options.
func (g *generator) members(k kind.Kind) *jsonschema.Schema {
	name, options, one := &jsonschema.Schema{Type: "string"}, object(""), uint64(1)
	options.MinProperties, options.MaxProperties = &one, &one
	for _, member := range slices.Sorted(maps.Keys(k.Members)) {
		name.Enum = append(name.Enum, member)
		options.Properties.Set(member, g.of(k.Members[member].Config, k.Members[member].Summary+" "+registers(all.Builtins()[member].Registration)))
	}
	return &jsonschema.Schema{Description: k.Summary, OneOf: []*jsonschema.Schema{name, options}}
}

// registers describes the defaults of a builtin's registration.
func registers(reg chain.Registration) string {
	reg = reg.WithDefaults()
	text := fmt.Sprintf("Where the hook does not say otherwise: events %s; priority %d; on_failure %s; mode %s; timeout_ms %d",
		strings.Join(reg.Events, " "), reg.Priority, reg.OnFailure, reg.Mode, reg.TimeoutMS)
	if reg.Match != "" {
		text += "; match " + reg.Match
	}
	if reg.ReplaySafe {
		text += "; replay_safe true"
	}
	return text + "."
}

func object(description string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Description: description, Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema}
}

func list(of *jsonschema.Schema, description string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "array", Items: of, Description: description}
}

// alternatives are members of which a struct may have at most one, or must have one.
type alternatives struct {
	names    []string
	required bool
}

// alternativesOf has the alternatives of each type that has some.
var alternativesOf = map[reflect.Type]alternatives{
	reflect.TypeFor[celhook.Rule]():    {names: []string{"deny", "ask", "inject", "modify"}},
	reflect.TypeFor[regohook.Config](): {names: []string{"policy", "files", "bundle"}, required: true},
	reflect.TypeFor[httphook.Config](): {names: []string{"secret_env", "secret_file"}},
	reflect.TypeFor[workerfile.Test](): {names: []string{"event", "events"}, required: true},
}

// apply adds to the schema of a struct that it has one of the members. If it may have none, that is
// one more alternative.
func (a alternatives) apply(s *jsonschema.Schema) {
	none := &jsonschema.Schema{}
	for _, name := range a.names {
		if _, there := s.Properties.Get(name); !there {
			panic("there is no member " + name)
		}
		has := &jsonschema.Schema{Required: []string{name}}
		s.OneOf, none.AnyOf = append(s.OneOf, has), append(none.AnyOf, has)
	}
	if !a.required {
		s.OneOf = append(s.OneOf, &jsonschema.Schema{Not: none})
	}
}

// known returns the schemas of types with custom JSON decoding, and of words from a closed list.
func (g *generator) known(typ reflect.Type) *jsonschema.Schema {
	if choice, is := alternativesOf[typ]; is && g.current != typ {
		g.current = typ
		s := g.of(reflect.New(typ).Interface(), "")
		choice.apply(s)
		return s
	}
	g.current = nil
	switch typ {
	case reflect.TypeFor[jsontext.Value]():
		return &jsonschema.Schema{}
	case reflect.TypeFor[celhook.Source]():
		return anyOf("string", "number", "boolean")
	case reflect.TypeFor[exechook.Command]():
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "string"}, list(&jsonschema.Schema{Type: "string"}, "")}}
	case reflect.TypeFor[workerfile.Text]():
		type members workerfile.Text // has the default decoding
		return g.orText(typ, members{})
	case reflect.TypeFor[celhook.Inject]():
		type members celhook.Inject
		return g.orText(typ, members{})
	case reflect.TypeFor[workerfile.Assumed]():
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{words(workerfile.AssumedEffects()...), g.of(workerfile.AssumedResult{}, "")}}
	case reflect.TypeFor[workerfile.Effect]():
		return words(workerfile.Effects()...)
	case reflect.TypeFor[chain.Policy]():
		return words(chain.FailOpen, chain.FailClosed)
	case reflect.TypeFor[chain.Mode]():
		return words(chain.Enforce, chain.Shadow, chain.Observe, chain.Async)
	case reflect.TypeFor[chain.Role]():
		return words(chain.RoleSystem, chain.RoleUser, chain.RoleAssistant)
	case reflect.TypeFor[chain.Level]():
		return words(chain.LevelInfo, chain.LevelWarning, chain.LevelError)
	}
	for _, own := range []reflect.Type{
		reflect.TypeFor[json.Unmarshaler](), reflect.TypeFor[jsonv2.UnmarshalerFrom](), reflect.TypeFor[encoding.TextUnmarshaler](),
	} {
		if typ.Implements(own) || reflect.PointerTo(typ).Implements(own) {
			g.t.Errorf("%v reads JSON in a way of its own: say in known what it takes", typ)
		}
	}
	return nil
}

// orText returns the schema of a type that accepts a text as well as a mapping with its members.
func (g *generator) orText(typ reflect.Type, members any) *jsonschema.Schema {
	s := g.of(members, "")
	for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
		field, _ := typ.FieldByNameFunc(func(name string) bool { return strings.EqualFold(name, strings.ReplaceAll(pair.Key, "_", "")) })
		pair.Value.Description = g.CommentMap[typ.PkgPath()+"."+typ.Name()+"."+field.Name]
	}
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "string"}, s}}
}

func anyOf(types ...string) *jsonschema.Schema {
	s := &jsonschema.Schema{}
	for _, t := range types {
		s.AnyOf = append(s.AnyOf, &jsonschema.Schema{Type: t})
	}
	return s
}

func words[T ~string](list ...T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, w := range list {
		s.Enum = append(s.Enum, string(w))
	}
	return s
}
