package match_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/policy/match"
)

// codexShell is how Codex calls a shell.
const codexShell = `{"tool_name":"shell","tool_input":{"command":["bash","-lc","rm -rf /srv"],"workdir":"/p"}}`

func TestToolInExpressions(t *testing.T) {
	const patch = `{"tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Update File: a\n*** Delete File: /etc/b\n*** End Patch"}}`
	for name, c := range map[string]struct {
		event, data, expr string
		want              bool
	}{
		"a class":                                {"tool:pre", codexShell, `tool.class == 'shell'`, true},
		"a command":                              {"tool:pre", codexShell, `tool.command.startsWith('rm ') && tool.command.matches('rm +-rf')`, true},
		"where it runs":                          {"tool:pre", codexShell, `tool.cwd == '/p'`, true},
		"a name as it was sent":                  {"tool:pre", `{"tool_name":"BASH"}`, `tool.name == 'BASH' && data.tool_name == tool.name`, true},
		"any of the paths":                       {"tool:pre", patch, `tool.paths.exists(p, p.startsWith('/etc/'))`, true},
		"the first path":                         {"tool:pre", patch, `tool.path == 'a' && tool.paths[1] == '/etc/b' && tool.paths.size() == 2`, true},
		"an operation":                           {"tool:pre", patch, `tool.operation in ['write', 'delete']`, true},
		"an address":                             {"tool:pre", `{"tool_name":"WebFetch","tool_input":{"url":"http://x"}}`, `tool.url == 'http://x' && 'http://x' in tool.urls`, true},
		"a server":                               {"tool:pre", `{"tool_name":"mcp__a__b"}`, `tool.class == 'mcp' && tool.server == 'a' && tool.server_tool == 'b'`, true},
		"a shell by its command only":            {"tool:pre", `{"tool_name":"x","tool_input":{"command":"ls"}}`, `tool.class == 'shell' && !tool.known`, true},
		"what is not known is other":             {"tool:pre", `{"tool_name":"x"}`, `tool.class == 'other' && !tool.known`, true},
		"what can't be told is partial":          {"tool:pre", `{"tool_name":"Write"}`, `tool.partial`, true},
		"a field has a value":                    {"tool:pre", codexShell, `has(tool.command) && has(tool.known) && !has(tool.path) && !has(tool.paths) && !has(tool.partial)`, true},
		"an event that is about no tool":         {"session:start", codexShell, `tool.class == '' && tool.paths == [] && !tool.known`, true},
		"an approval without a tool":             {"approval:required", `{}`, `tool.class == ''`, true},
		"no data":                                {"tool:pre", ``, `tool.class == 'other' && tool.partial`, true},
		"the tool and a member of the same name": {"tool:pre", `{"tool":"bash","args":{"command":"ls"}}`, `data.tool == tool.name && tool.command == 'ls'`, true},
		"a local variable may be called tool":    {"tool:pre", codexShell, `['x'].all(tool, tool == 'x')`, true},
		"a tool is like itself":                  {"tool:pre", codexShell, `tool == tool`, true},
		"the input of a call":                    {"tool:pre", codexShell, `tool.input.workdir == '/p' && has(tool.input.command) && !has(tool.input.cmd)`, true},
		"an input by another name":               {"tool:pre", `{"toolName":"x","toolArgs":{"a":{"b":1}}}`, `tool.input == {'a': {'b': 1}}`, true},
		"an input that is JSON in a text":        {"tool:pre", `{"tool_name":"x","tool_input":"{\"url\":\"http://x\"}"}`, `tool.input.url == 'http://x' && has(tool.input)`, true},
		"an input that is a text":                {"tool:pre", `{"tool_name":"x","tool_input":"*** Begin"}`, `tool.input == {'input': '*** Begin'}`, true},
		"its texts":                              {"tool:pre", codexShell, `tool.texts.exists(t, t.startsWith('rm')) && size(tool.texts) == 4`, true},
		"no texts":                               {"tool:pre", `{"tool_name":"x"}`, `tool.texts == [] && !has(tool.texts)`, true},
		"no input":                               {"tool:pre", `{"tool_name":"x"}`, `!has(tool.input) && tool.input.all(k, false)`, true},
		"an input that is no object":             {"tool:pre", `{"tool_name":"x","tool_input":[1]}`, `tool.input == {} && tool.partial`, true},
		"no tool, no input":                      {"session:start", codexShell, `tool.input == {}`, true},
		"an approval without a tool, no input":   {"approval:required", `{"input":{"a":1}}`, `tool.input == {}`, true},
		"in a list":                              {"tool:pre", codexShell, `[tool].exists(t, t.class == 'shell')`, true},
		"a guard of the documents, in place": {
			"tool:pre", patch, `tool.class == 'file' && tool.operation != 'read' && (tool.partial || tool.paths.exists(p, p.contains('..') || !p.startsWith('/srv/')))`, true,
		},
		"a class may be compared with a variable": {"tool:pre", codexShell, `tool.class == event || tool.class != ''`, true},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := match.Compile(c.expr)
			if err != nil {
				t.Fatalf("Compile(%q): %v", c.expr, err)
			}
			in := match.NewInput(c.event, "s1", []byte(c.data))
			for range 2 { // the second time from the cached result
				if got, err := p.Eval(in); err != nil || got != c.want {
					t.Errorf("Eval(%q) = %v, %v; want %v", c.expr, got, err, c.want)
				}
			}
		})
	}
}

func TestCompileKnowsWhatAToolHas(t *testing.T) {
	const fields = "tool has class, command, cwd, input, known, name, operation, partial, path, paths, server, server_tool, texts, url, urls"
	for name, c := range map[string]struct{ expr, want string }{
		"a field that it has not":           {`event == 'tool:pre' && tool.clas == 'shell'`, "match: 1:28: undefined field 'clas': " + fields},
		"the same through has":              {`has(tool.clas)`, "match: 1:4: undefined field 'clas': " + fields},
		"a class that does not exist":       {`tool.class == 'bash'`, "match: 1:15: tool.class is never 'bash', but one of shell, file, web, mcp, agent, todo, other"},
		"the same the other way round":      {`'Shell' != tool.class`, "match: 1:1: tool.class is never 'Shell'"},
		"an operation that does not exist":  {`tool.operation in ['write', 'delet']`, "match: 1:29: tool.operation is never 'delet', but one of read, write, edit, delete, move, list, search, fetch"},
		"a class of a tool in a list":       {`[tool].exists(t, t.class == 'sh')`, "match: 1:29: tool.class is never 'sh'"},
		"a field of another type":           {`tool.known == 'yes'`, "match: 1:12: found no matching overload for '_==_' applied to '(bool, string)'"},
		"a name that is not quite the tool": {`tol.class == 'shell'`, "match: 1:1: undeclared reference to 'tol' (did you mean 'tool'?)"},
		"brackets":                          {`tool['class'] == 'shell'`, "match: 1:5: found no matching overload for '_[_]'"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := match.Compile(c.expr)
			var at *match.Error
			if !errors.As(err, &at) || !strings.HasPrefix(err.Error(), c.want) {
				t.Fatalf("Compile = %v; want %s", err, c.want)
			}
		})
	}
}

func TestAToolIsNotMadeByAnExpression(t *testing.T) {
	p, err := match.Compile(`hookrouter.Tool{class: 'file'}.class == 'file'`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Eval(match.NewInput("tool:pre", "s1", []byte(codexShell)))
	if err == nil || !strings.Contains(err.Error(), "a tool can't be made in an expression") {
		t.Errorf("Eval = %v, %v; want an error", got, err)
	}
}

func TestToolAsJSON(t *testing.T) {
	e, err := match.InMatch.CompileExpr(`tool`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.EvalJSON(match.NewInput("tool:pre", "s1", []byte(codexShell)))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"class":"shell","command":"rm -rf /srv","cwd":"/p","input":{"command":["bash","-lc","rm -rf /srv"],"workdir":"/p"},"known":true,"name":"shell","operation":"","partial":false,` +
		`"path":"","paths":[],"server":"","server_tool":"","texts":["bash","-lc","rm -rf /srv","/p"],"url":"","urls":[]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("tool as JSON (-want +got):\n%s", diff)
	}
}

func TestToolOfDataThatIsNoObjectIsAnError(t *testing.T) {
	p, err := match.Compile(`tool.class == 'shell'`)
	if err != nil {
		t.Fatal(err)
	}
	for event, want := range map[string]string{"tool:pre": "match: decode data: data is not JSON", "session:start": ""} {
		in := match.NewInput(event, "s1", []byte(`{"tool_name`))
		for range 2 {
			got, err := p.Eval(in)
			if got || (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
				t.Errorf("Eval on %s = %v, %v; want an error %q", event, got, err, want)
			}
		}
	}
}

func TestComparingToolsInALoopIsCharged(t *testing.T) {
	large := `{"tool_name":"Edit","tool_input":{"files":["` + strings.Repeat(`x","y`, 100) + strings.Repeat("a", 200_000) + `"]},"list":[` + strings.Repeat("1,", 50_000) + `1]}`
	for _, expr := range []string{`data.list.all(x, tool == tool)`, `data.list.all(x, tool.paths == tool.paths)`, `data.list.all(x, !('b' + event in tool.paths))`} {
		p, err := match.Compile(expr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Eval(match.NewInput("tool:pre", "s1", []byte(large))); !errors.Is(err, match.ErrTooCostly) {
			t.Errorf("Eval(%q) = %v; want %v", expr, err, match.ErrTooCostly)
		}
	}
}

// TestMatchWithoutToolAllocatesNothingForIt checks that an expression without tool does not parse
// the data, and allocates no more than an input and an evaluation.
func TestMatchWithoutToolAllocatesNothingForIt(t *testing.T) {
	p, err := match.Compile(`event == 'tool:pre'`)
	if err != nil {
		t.Fatal(err)
	}
	named, err := match.Compile(`event == 'tool:pre' || tool.known`)
	if err != nil {
		t.Fatal(err)
	}
	data := []byte(codexShell)
	eval := func(p *match.Program, event string) float64 {
		return testing.AllocsPerRun(100, func() {
			if _, err := p.Eval(match.NewInput(event, "s1", data)); err != nil {
				t.Fatal(err)
			}
		})
	}
	const inputAndEval = 6 // measured before tool was added
	if n := eval(p, "tool:pre"); n > inputAndEval {
		t.Errorf("%v allocations of an expression without tool; want at most %d", n, inputAndEval)
	}
	if without, with := eval(p, "tool:pre"), eval(named, "tool:pre"); with <= without {
		t.Errorf("%v allocations without tool, %v with it: the test can't see a difference", without, with)
	}
	if without, with := eval(p, "session:start"), eval(named, "session:start"); with > without+4 {
		t.Errorf("%v allocations of an event that is about no tool, %v where tool is named", without, with)
	}
}
