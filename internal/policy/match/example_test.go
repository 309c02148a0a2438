package match_test

import (
	"errors"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/policy/match"
)

func Example() {
	guard, err := match.Compile(`data.tool_name in ['Write', 'Edit'] && data.tool_input.file_path.startsWith('/etc/')`)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, data := range []string{
		`{"tool_name":"Write","tool_input":{"file_path":"/etc/passwd"}}`,
		`{"tool_name":"Read","tool_input":{"file_path":"/etc/passwd"}}`,
		`{}`,
	} {
		holds, err := guard.Eval(match.NewInput("tool:pre", "s1", []byte(data)))
		fmt.Println(holds, err)
	}
	// Output:
	// true <nil>
	// false <nil>
	// false match: no such key: tool_name
}

func ExampleError() {
	_, err := match.Compile(`data.tool_name == 'Bash' && data.x.startWith('a')`)
	if at, ok := errors.AsType[*match.Error](err); ok {
		fmt.Println(at.Line, at.Column)
	}
	fmt.Println(err)
	// Output:
	// 1 45
	// match: 1:45: undeclared reference to 'startWith' (did you mean 'startsWith'?)
}

func ExampleExpr_EvalJSON() {
	value, err := match.InMatch.CompileExpr(`{'command': 'ls ' + data.path, 'id': data.id}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := value.EvalJSON(match.NewInput("tool:pre", "s1", []byte(`{"path":"/tmp","id":9007199254740993}`)))
	fmt.Println(string(text), err)
	// Output:
	// {"command":"ls /tmp","id":9007199254740993} <nil>
}
