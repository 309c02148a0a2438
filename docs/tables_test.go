package docs_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/hookrouter/hookrouter/internal/builtin/all"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// TestEventsTable keeps events.md what the catalog says.
func TestEventsTable(t *testing.T) {
	var index, detail strings.Builder
	index.WriteString("| event | when |\n|---|---|\n")
	for _, info := range events.Catalog() {
		name := "`" + info.Name + "`"
		own := info.Fields[1 : len(info.Fields)-1] // without session_id and timestamp
		if len(own) > 0 {
			name = fmt.Sprintf("[%s](#%s)", name, strings.NewReplacer(":", "").Replace(info.Name))
		}
		for _, alias := range info.Aliases {
			name += ", `" + alias + "`"
		}
		fmt.Fprintf(&index, "| %s | %s |\n", name, strings.TrimSuffix(info.Summary, "."))
		if len(own) == 0 {
			continue
		}
		fmt.Fprintf(&detail, "### %s\n\n", info.Name)
		for _, f := range own {
			meaning := f.Description
			if f.Values != nil {
				meaning += ": " + code(f.Values, ", ")
			}
			typ := " (" + f.Type + ")"
			if f.Type == "string" {
				typ = ""
			}
			fmt.Fprintf(&detail, "- `%s`%s: %s\n", f.Name, typ, lowered(meaning))
		}
		detail.WriteString("\n")
	}
	generated(t, "events.md", "events", index.String())
	generated(t, "events.md", "fields", strings.TrimRight(detail.String(), "\n")+"\n")
}

// lowered is a sentence as it stands after a colon; abbreviations stay.
func lowered(text string) string {
	if len(text) > 1 && unicode.IsUpper(rune(text[1])) {
		return text
	}
	return strings.ToLower(text[:1]) + text[1:]
}

// TestLimitsOfTheProtocol keeps the limits that protocol.md gives those of the code.
func TestLimitsOfTheProtocol(t *testing.T) {
	_, table, _ := strings.Cut(read(t, "protocol.md"), "\n## Limits\n")
	table, _, _ = strings.Cut(table, "\n## ")
	thousands := func(n int) string { return fmt.Sprintf("%d,%03d", n/1000, n%1000) }
	for _, row := range []string{
		"| one injection | " + thousands(verdict.DefaultLimits.Size) + " bytes |",
		"| injections of a turn | " + thousands(verdict.DefaultLimits.Budget) + " tokens |",
		fmt.Sprintf("| a prompt | %d KiB |", approval.MaxPrompt>>10),
		fmt.Sprintf("| options | %d, each of %d characters |", approval.MaxOptions, approval.MaxOption),
		fmt.Sprintf("| time to answer | %d days |", approval.MaxTimeout/(24*time.Hour)),
		fmt.Sprintf("| a note, an error, an option in free text | %d KiB each; who answers %d bytes |", approval.MaxNote>>10, approval.MaxBy),
	} {
		if !strings.Contains(table, row) {
			t.Errorf("the limits of protocol.md lack %s", row)
		}
	}
}

func code(words []string, sep string) string {
	if len(words) == 0 {
		return ""
	}
	return "`" + strings.Join(words, "`"+sep+"`") + "`"
}

// TestBuiltinTables keeps the tables of builtin hooks what they register. A document
// tells of those that it has a heading for.
func TestBuiltinTables(t *testing.T) {
	known := all.Builtins()
	for _, doc := range []string{"builtins-guards.md", "builtins-session.md", "builtins-tools.md"} {
		var b strings.Builder
		b.WriteString("| builtin | what it does | events | registered with |\n|---|---|---|---|\n")
		for _, heading := range heading2.FindAllStringSubmatch(read(t, doc), -1) {
			name := heading[1]
			builtin, ok := known[name]
			if !ok {
				continue
			}
			delete(known, name)
			reg := builtin.Registration.WithDefaults()
			events := code(reg.Events, ", ")
			if reg.Match != "" {
				events += ", where `" + strings.ReplaceAll(reg.Match, "|", `\|`) + "`"
			}
			fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s | %s |\n", name, name, strings.TrimSuffix(builtin.Summary, "."), events, code(unusual(reg), ", "))
		}
		generated(t, doc, "builtins", b.String())
	}
	for name := range known {
		t.Errorf("no document has a heading for the builtin %s", name)
	}
}

// unusual are the members of a registration that are not the protocol's defaults.
func unusual(reg chain.Registration) []string {
	with := []string{fmt.Sprintf("priority: %d", reg.Priority)}
	usual := chain.Registration{}.WithDefaults()
	if reg.OnFailure != usual.OnFailure {
		with = append(with, "on_failure: "+string(reg.OnFailure))
	}
	if reg.Mode != usual.Mode {
		with = append(with, "mode: "+string(reg.Mode))
	}
	if reg.TimeoutMS != usual.TimeoutMS {
		with = append(with, fmt.Sprintf("timeout_ms: %d", reg.TimeoutMS))
	}
	if reg.ReplaySafe {
		with = append(with, "replay_safe: true")
	}
	return with
}

var heading2 = regexp.MustCompile("(?m)^## ([a-z-]+)$")

// TestFlagTables keeps the tables of flags what the programs say.
func TestFlagTables(t *testing.T) {
	for _, table := range []struct{ doc, name, dir, structName, prefix string }{
		{"operator.md", "hook-router flags", "../cmd/hook-router", "serve", "HOOK_ROUTER_"},
		{"hook-worker.md", "hook-worker flags", "../cmd/hook-worker", "serve", ""},
	} {
		generated(t, table.doc, table.name, flagTable(t, table.dir, table.structName, table.prefix))
	}
	generated(t, "hookctl.md", "hookctl commands", commandTable(t, "../internal/cli/hookctl"))
}

// flagTable makes the table of the kong flags that a struct declares. Where a prefix is
// given, each variable must be that and the flag's name, and has no column.
func flagTable(t *testing.T, dir, structName, prefix string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| flag | variable | default | meaning |\n|---|---|---|---|\n")
	if prefix != "" {
		b.Reset()
		b.WriteString("| flag | default | meaning |\n|---|---|---|\n")
	}
	for _, f := range structFields(t, dir, structName) {
		tag := f.tag
		if tag.Get("help") == "" {
			continue
		}
		name := "--" + cmp.Or(tag.Get("name"), kebab(f.name))
		vars := strings.FieldsFunc(cmp.Or(tag.Get("env"), tag.Get("from")), func(r rune) bool { return r == ',' })
		column := code(vars, ", ") + " | "
		if prefix != "" {
			column = ""
			if want := prefix + strings.ToUpper(strings.ReplaceAll(name[2:], "-", "_")); !slices.Equal(vars, []string{want}) {
				t.Errorf("%s has the variables %q; want %s", name, vars, want)
			}
		}
		if holder := tag.Get("placeholder"); holder != "" {
			name += "=" + holder
		}
		value := tag.Get("default")
		if value != "" {
			value = "`" + value + "`"
		}
		if _, required := tag.Lookup("required"); required {
			value = "required"
		}
		fmt.Fprintf(&b, "| `%s` | %s%s | %s |\n", name, column, value, tag.Get("help"))
	}
	return b.String()
}

// commandTable makes the list of the commands that the struct commands declares, with
// all of one noun in one item.
func commandTable(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	for _, f := range structFields(t, dir, "commands") {
		name := kebab(f.name)
		all := usages(t, name, f)
		help := strings.TrimSuffix(f.tag.Get("help"), ".")
		if len(all) == 1 {
			b.WriteString(item("`" + all[0] + "`: " + help))
			continue
		}
		for i := range all {
			all[i] = strings.TrimPrefix(all[i], name+" ")
		}
		b.WriteString(item("`" + name + "`: " + help + ": " + code(all, ", ")))
	}
	return b.String()
}

// usages are the command that a field declares, with its arguments, or the commands below it.
func usages(t *testing.T, name string, f structField) []string {
	t.Helper()
	var below []string
	args := name
	for _, sub := range structFields(t, f.dir, f.typ) {
		if _, isCommand := sub.tag.Lookup("cmd"); isCommand {
			below = append(below, usages(t, name+" "+kebab(sub.name), sub)...)
		}
		if _, isArg := sub.tag.Lookup("arg"); isArg {
			arg := cmp.Or(sub.tag.Get("name"), kebab(sub.name))
			if _, optional := sub.tag.Lookup("optional"); optional {
				arg = "[" + arg + "]"
			}
			args += " " + arg
		}
	}
	if below != nil {
		return below
	}
	return []string{args}
}

var (
	sources  = map[string]map[string]*ast.Package{} //nolint:staticcheck // one directory without build tags
	sourceMu sync.Mutex
)

// parsed is the source of a directory, which is read once.
func parsed(dir string) (map[string]*ast.Package, error) { //nolint:staticcheck // see above
	sourceMu.Lock()
	defer sourceMu.Unlock()
	if sources[dir] == nil {
		pkgs, err := parser.ParseDir(token.NewFileSet(), dir, nil, parser.SkipObjectResolution) //nolint:staticcheck // see above
		if err != nil {
			return nil, err
		}
		sources[dir] = pkgs
	}
	return sources[dir], nil
}

type structField struct {
	name     string
	dir, typ string // where its type is declared
	tag      reflect.StructTag
}

// structFields reads the fields of a struct from its source, those of embedded structs
// included, since most are not exported.
func structFields(t *testing.T, dir, structName string) []structField {
	t.Helper()
	pkgs, err := parsed(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []structField
	for _, pkg := range pkgs {
		ast.Inspect(pkg, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || spec.Name.Name != structName {
				return true
			}
			s, ok := spec.Type.(*ast.StructType)
			if !ok {
				return false
			}
			for _, f := range s.Fields.List {
				field := structField{dir: dir}
				switch typ := f.Type.(type) {
				case *ast.Ident:
					field.typ = typ.Name
				case *ast.SelectorExpr: // of a package beside this one
					field.dir, field.typ = filepath.Join(filepath.Dir(dir), fmt.Sprint(typ.X)), typ.Sel.Name
					if _, err := os.Stat(field.dir); err != nil { // it is shared by the programs
						field.dir = filepath.Join(root, "internal", fmt.Sprint(typ.X))
					}
				}
				if f.Tag != nil {
					text, err := strconv.Unquote(f.Tag.Value)
					if err != nil {
						t.Fatal(err)
					}
					field.tag = reflect.StructTag(text)
				}
				if len(f.Names) == 0 {
					if _, embed := field.tag.Lookup("embed"); !embed {
						all = append(all, structFields(t, field.dir, field.typ)...)
					}
					continue
				}
				for _, name := range f.Names {
					field.name = name.Name
					all = append(all, field)
				}
			}
			return false
		})
	}
	return all
}

// kebab turns MaxInFlight into max-in-flight, as kong does.
func kebab(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
