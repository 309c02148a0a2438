package paths

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/events"
)

func TestOf(t *testing.T) {
	for sentence, c := range map[string]struct {
		data string
		want []string
	}{
		"a file to write":                  {`{"tool_input":{"file_path":"/a/../b"}}`, []string{"/b"}},
		"a notebook":                       {`{"tool_input":{"notebook_path":"/n.ipynb"}}`, []string{"/n.ipynb"}},
		"a directory to search":            {`{"tool_input":{"path":"/etc/"}}`, []string{"/etc"}},
		"every member that names one":      {`{"tool_input":{"path":"/p","file_path":"/f"}}`, []string{"/f", "/p"}},
		"relative to the agent's place":    {`{"cwd":"/home/me","tool_input":{"file_path":"../x"}}`, []string{"/home/x"}},
		"a name in another case is none":   {`{"tool_input":{"File_Path":"/f"}}`, nil},
		"no path":                          {`{"tool_input":{"command":"ls"}}`, nil},
		"a path that is null or empty":     {`{"tool_input":{"path":null,"file_path":""}}`, nil},
		"no input":                         {`{"tool_name":"Write"}`, nil},
		"a member with the name elsewhere": {`{"file_path":"/f","tool_input":{}}`, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := Of(events.Event{Name: events.ToolPre, Data: json.RawMessage(c.data)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOfRefusesWhatIsNoPath(t *testing.T) {
	for _, data := range []string{
		`{"tool_input":{"file_path":["/a"]}}`, `{"tool_input":{"path":5}}`, `{"tool_input":"/etc/passwd"}`, `{"cwd":{},"tool_input":{}}`,
	} {
		if got, err := Of(events.Event{Data: json.RawMessage(data)}); err == nil {
			t.Errorf("%s names %q", data, got)
		}
	}
}

func TestClean(t *testing.T) {
	for _, c := range []struct{ p, cwd, want string }{
		{"/tmp/x", "", "/tmp/x"},
		{"/tmp/../etc//./passwd", "", "/etc/passwd"},
		{"//etc/passwd", "", "/etc/passwd"},
		{"x/y", "", "x/y"},
		{"x/y", "/home/me", "/home/me/x/y"},
		{"../../etc/passwd", "/home/me", "/etc/passwd"},
		{"../../etc/passwd", "", "/etc/passwd"},
		{"a/../../etc", "", "/etc"},
		{"..", "", "/"},
		{"..x", "", "..x"},
		{"~/.ssh/../x", "/home/me", "~/x"},
		{"~/../../etc/passwd", "/home/me", "/etc/passwd"},
		{"~root/.profile", "", "/root/.profile"},
		{"~rooted/x", "", "~rooted/x"},
		{`C:\Users\me\..\you`, "", "C:/Users/you"},
		{`..\..\etc`, `C:\x`, "/etc"},
	} {
		if got := Clean(c.p, c.cwd); got != c.want {
			t.Errorf("Clean(%q, %q) = %q, want %q", c.p, c.cwd, got, c.want)
		}
	}
}
