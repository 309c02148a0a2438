package match_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/policy/match"
)

const toolPre = `{"tool_name":"Write","tool_input":{"file_path":"/etc/passwd","lines":[1,2,3],"ratio":0.5,"none":null},
	"big":9007199254740993,"huge":18446744073709551615,"exp":1e3,"beyond":1e999,"flag":true,"empty":{}}`

func TestProgramEval(t *testing.T) {
	for name, c := range map[string]struct {
		expr string
		want bool
	}{
		"the event is a string":                          {`event == 'tool:pre'`, true},
		"so is the session":                              {`session_id.startsWith('s')`, true},
		"a member is one of several":                     {`data.tool_name in ['Write', 'Edit']`, true},
		"a member is none of several":                    {`data.tool_name in ['Read']`, false},
		"a member of a member":                           {`data.tool_input.file_path.startsWith('/etc/')`, true},
		"a member by its name in brackets":               {`data['tool_input']['file_path'] == '/etc/passwd'`, true},
		"a missing member can be asked for":              {`has(data.tool_input.content)`, false},
		"null is there":                                  {`has(data.tool_input.none) && data.tool_input.none == null`, true},
		"an integer beyond 2^53 is exact":                {`data.big == 9007199254740993 && data.big != 9007199254740992`, true},
		"an integer is an int":                           {`type(data.big) == int`, true},
		"an integer beyond 64 bits is a double":          {`type(data.huge) == double`, true},
		"a number with an exponent is a double":          {`type(data.exp) == double && data.exp == 1000.0`, true},
		"a number with a fraction is a double":           {`type(data.tool_input.ratio) == double`, true},
		"a number beyond all doubles is infinite":        {`data.beyond > 1.0e308`, true},
		"numbers compare across types":                   {`data.exp == 1000 && data.tool_input.ratio < 1`, true},
		"a flag is its own condition":                    {`data.flag`, true},
		"some element":                                   {`data.tool_input.lines.exists(n, n > 2)`, true},
		"every element":                                  {`data.tool_input.lines.all(n, n > 2)`, false},
		"elements are counted":                           {`data.tool_input.lines.size() == 3 && size(data.empty) == 0`, true},
		"lists are compared":                             {`data.tool_input.lines == [1, 2] + [3]`, true},
		"lists are unequal":                              {`data.tool_input.lines != data.tool_input.lines.filter(x, x > 1)`, true},
		"a list is searched":                             {`2 in data.tool_input.lines && !(7 in data.tool_input.lines)`, true},
		"a name is looked up":                            {`'big' in data && !('small' in data)`, true},
		"a pattern":                                      {`data.tool_input.file_path.matches('^/(etc|usr)/')`, true},
		"a pattern as a function":                        {`matches(data.tool_name, 'W.*e')`, true},
		"lower case":                                     {`data.tool_name.lowerAscii() == 'write'`, true},
		"parts":                                          {`data.tool_input.file_path.split('/')[1] == 'etc'`, true},
		"parts, at most":                                 {`data.tool_input.file_path.split('/', 2).size() == 2`, true},
		"parts joined":                                   {`['a', 'b'].join('-') == data.tool_name.replace('Write', 'a-b')`, true},
		"parts joined by nothing":                        {`[data.tool_name, '!'].join() == 'Write!'`, true},
		"a place in the text":                            {`data.tool_name.indexOf('r') == 1 && data.tool_name.lastIndexOf('e') == 4`, true},
		"replaced once":                                  {`'aa'.replace('a', data.tool_name, 1) == 'Writea'`, true},
		"a format":                                       {`'%s: %d'.format([data.tool_name, data.big]) == 'Write: 9007199254740993'`, true},
		"the first part decides":                         {`false && data.nothing == 1`, false},
		"a failing part is passed over by a true one":    {`data.nothing == 1 || true`, true},
		"a local variable may be called data":            {`[1].all(data, data == 1)`, true},
		"values of different kinds are not equal":        {`data.flag != data.tool_name && data.empty != data.tool_input.lines`, true},
		"equality with something missing is passed over": {`data.nothing == data.nowhere || true`, true},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := match.Compile(c.expr)
			if err != nil {
				t.Fatalf("Compile(%q): %v", c.expr, err)
			}
			got, err := p.Eval(match.NewInput("tool:pre", "s1", []byte(toolPre)))
			if err != nil || got != c.want {
				t.Errorf("Eval(%q) = %v, %v; want %v", c.expr, got, err, c.want)
			}
		})
	}
}

func TestProgramEvalFails(t *testing.T) {
	for name, c := range map[string]struct{ expr, data, want string }{
		"a member that isn't there":      {`data.tool_name == 'x'`, `{}`, "no such key: tool_name"},
		"no data":                        {`data.tool_name == 'x'`, ``, "no such key: tool_name"},
		"operands that don't fit":        {`data.n.startsWith('x')`, `{"n":1}`, "no such overload"},
		"a pattern on a number":          {`data.n.matches('x')`, `{"n":1}`, "no such overload"},
		"a result that is no flag":       {`data.n`, `{"n":1}`, "the result is a value of type int, not true or false"},
		"a member of a text":             {`data.n.x == 1`, `{"n":"a"}`, "no such key: x"},
		"a division by zero":             {`1 / data.n == 1`, `{"n":0}`, "division by zero"},
		"a list where none is":           {`2 in data.n`, `{"n":0}`, "no such overload"},
		"data that is a list":            {`data.n == 1`, `[1]`, "decode data: it is not a JSON object"},
		"data that ends too early":       {`data.n == 1`, `{"n":`, "decode data: "},
		"data that ends in a list":       {`data.n == 1`, `{"n":[1`, "decode data: "},
		"data with a name twice":         {`data.n == 1`, `{"n":1,"n":2}`, "duplicate"},
		"data followed by something":     {`data.n == 1`, `{"n":1} {}`, "something follows the JSON object"},
		"data that nests deeper than 64": {`data.n == 1`, `{"n":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`, "nests deeper than 64 levels"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := match.Compile(c.expr)
			if err != nil {
				t.Fatalf("Compile(%q): %v", c.expr, err)
			}
			in := match.NewInput("tool:pre", "s1", []byte(c.data))
			for range 2 { // the second time from the cached result
				got, err := p.Eval(in)
				if got || err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("Eval = %v, %v; want an error with %q", got, err, c.want)
				}
			}
		})
	}
}

func TestDataIsNotDecodedForWhatDoesNotUseIt(t *testing.T) {
	p, err := match.Compile(`event == 'tool:pre' && session_id == ''`)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.Eval(match.NewInput("tool:pre", "", []byte("garbage"))); err != nil || !got {
		t.Errorf("Eval = %v, %v; want true", got, err)
	}
}

func TestCompileNamesTheFirstError(t *testing.T) {
	for name, c := range map[string]struct{ expr, want string }{
		"an unknown variable":           {`event == dta`, "match: 1:10: undeclared reference to 'dta' (did you mean 'data'?)"},
		"an unknown function":           {"true &&\n  data.x.startWith('a')", "match: 2:19: undeclared reference to 'startWith' (did you mean 'startsWith'?)"},
		"an expression that ends":       {`data.x ==`, "match: 1:10: Syntax error: mismatched input the end of the expression"},
		"types that don't fit":          {`event > 1`, "match: 1:7: found no matching overload for '_>_' applied to '(string, int)'"},
		"a result that is no flag":      {`event + 'x'`, "match: 1:1: the expression must be true or false, but its type is string"},
		"a pattern that is none":        {`event.matches('(')`, "match: 1:15: the pattern of matches is not a valid regular expression (RE2): missing closing ): `(`"},
		"has of an index":               {`has(data["x"])`, "match: 1:9: invalid argument to has() macro: write has(data.x), or 'x' in data"},
		"one equals sign":               {`event = 'x'`, "match: 1:7: Syntax error: token recognition error at: '= ': equal is written =="},
		"a comment of another language": {"# why\ntrue", "match: 1:1: Syntax error: token recognition error at: '#': a comment begins with //"},
		"a word for an operator":        {`true and false`, "match: 1:6: Syntax error: mismatched input 'and': and is written &&"},
		"a quote that is not closed":    {`event == 'x`, "match: 1:10: Syntax error: token recognition error at: ''x': a quote is not closed"},
		"quotes of a word processor":    {`event == “x”`, "match: 1:10: Syntax error: token recognition error at: '“': texts stand in straight quotes"},
		"a pattern that is computed":    {`event.matches(data.p)`, "match: 1:19: the pattern of matches must be a literal, such as 'rm +-rf'"},
		"a pattern that is huge":        {`event.matches('(a{30}){30}')`, "match: 1:15: regex program size"},
		"a duration that is none":       {`duration('x') < duration('1h')`, "match: 1:10: invalid duration argument"},
		"two errors, the first counts":  {`foo == bar`, "match: 1:1: undeclared reference to 'foo': an event has event, session_id, data, tool, labels, emitter and lineage, such as data.foo"},
		"nothing":                       {``, "match: 1:1: Syntax error: mismatched input the end of the expression"},
		"an expression of 5000 letters": {`event == '` + strings.Repeat("a", 5000) + `'`, "match: 1:1: expression code point size exceeds limit"},
		"an expression of a megabyte":   {strings.Repeat("a", 1<<20), "match: 1:1: the expression is longer than 4096 characters"},
		"one that nests deeply":         {strings.Repeat("(", 500) + strings.Repeat(")", 500), "match: 1:"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := match.Compile(c.expr)
			var at *match.Error
			if !errors.As(err, &at) || !strings.HasPrefix(err.Error(), c.want) {
				t.Fatalf("Compile = %v; want %s", err, c.want)
			}
			if strings.ContainsAny(err.Error(), "\n{") {
				t.Errorf("the error is not one short sentence: %s", err)
			}
		})
	}
}

func TestExprEvalJSON(t *testing.T) {
	for name, c := range map[string]struct{ expr, want string }{
		"a text":                      {`'ls ' + data.tool_input.file_path`, `"ls /etc/passwd"`},
		"a text with quotes":          {`'"\n<b>'`, `"\"\n<b>"`},
		"an exact integer":            {`data.big`, `9007199254740993`},
		"an unsigned integer":         {`18446744073709551615u`, `18446744073709551615`},
		"a double":                    {`data.tool_input.ratio`, `0.5`},
		"null":                        {`data.tool_input.none`, `null`},
		"a flag":                      {`!data.flag`, `false`},
		"a list":                      {`data.tool_input.lines + [dyn('x')]`, `[1,2,3,"x"]`},
		"an object, sorted":           {`{'b': 1, 'a': data.empty}`, `{"a":{},"b":1}`},
		"a part of the data":          {`data.tool_input`, `{"file_path":"/etc/passwd","lines":[1,2,3],"none":null,"ratio":0.5}`},
		"a duration":                  {`duration('90s')`, `"90s"`},
		"a moment":                    {`timestamp('2026-01-02T03:04:05.5+01:00')`, `"2026-01-02T02:04:05.5Z"`},
		"bytes":                       {`b'abc'`, `"YWJj"`},
		"an infinity has none":        {`data.beyond`, "JSON has no number +Inf"},
		"a number as a name":          {`{1: 2}`, "have strings as names"},
		"a type is no value":          {`type(1)`, "a value of type type is not JSON"},
		"a value of exponential size": {chain(`[event]`, `.map(a, [a, a])`, 40), match.ErrTooCostly.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := match.InMatch.CompileExpr(c.expr)
			if err != nil {
				t.Fatalf("CompileExpr(%q): %v", c.expr, err)
			}
			got, err := e.EvalJSON(match.NewInput("tool:pre", "s1", []byte(toolPre)))
			if err != nil {
				if !strings.Contains(err.Error(), c.want) {
					t.Errorf("EvalJSON: %v; want %s", err, c.want)
				}
				return
			}
			if diff := cmp.Diff(strings.ReplaceAll(c.want, "\n", `\n`), string(got)); diff != "" {
				t.Errorf("EvalJSON(%q) (-want +got):\n%s", c.expr, diff)
			}
		})
	}
}

func TestAProgramIsSafeForConcurrentUse(t *testing.T) {
	p, err := match.Compile(`data.tool_input.lines.exists(n, n == 3) && data.tool_input.lines == [1, 2, 3]`)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				if got, err := p.Eval(match.NewInput("tool:pre", "s1", []byte(toolPre))); err != nil || !got {
					t.Errorf("Eval = %v, %v; want true", got, err)
				}
			}
		})
	}
	group.Wait()
}
