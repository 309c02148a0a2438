package dispatch

import "testing"

func TestProject(t *testing.T) {
	t.Parallel()
	const data = `{"tool_name":"Write","tool_input":{"path":"/a","content":"secret","by":{"name":"ann","key":1}},"tool_input.path":"dotted","n":9007199254740993}`
	for sentence, c := range map[string]struct {
		fields []string
		want   string
	}{
		"nothing":               {[]string{}, `{}`},
		"a member":              {[]string{"tool_name"}, `{"tool_name":"Write"}`},
		"a number as it is":     {[]string{"n"}, `{"n":9007199254740993}`},
		"a member of a member":  {[]string{"tool_input.path", "tool_input.by.name"}, `{"tool_input":{"path":"/a","by":{"name":"ann"}}}`},
		"a member and its own":  {[]string{"tool_input", "tool_input.path"}, `{"tool_input":{"path":"/a","content":"secret","by":{"name":"ann","key":1}}}`},
		"a member of no object": {[]string{"tool_name.x"}, `{}`},
		"what is not there":     {[]string{"x", "tool_input.x"}, `{"tool_input":{}}`},
	} {
		if got, err := project([]byte(data), c.fields); err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v, want %s", sentence, got, err, c.want)
		}
	}
	if _, err := project([]byte(`[]`), []string{"a"}); err == nil {
		t.Error("what is no object is projected")
	}
}
