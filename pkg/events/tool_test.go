package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// toolOf is the tool of a tool:pre event.
func toolOf(t testing.TB, data string) Tool {
	t.Helper()
	tool, ok := ToolOf(ToolPre, []byte(data))
	if !ok {
		t.Fatalf("ToolOf says that %s is about no tool", data)
	}
	return tool
}

// TestToolOfEachVendor has a payload of each tool of each vendor, and what is made
// of it.
func TestToolOfEachVendor(t *testing.T) {
	for _, v := range toolVendors {
		t.Run(v.vendor, func(t *testing.T) {
			seen := map[string]bool{}
			for _, s := range samples(t, v.vendor) {
				var want Tool
				if err := json.Unmarshal(s.Tool, &want); err != nil {
					t.Fatal(err)
				}
				seen[want.Name] = true
				if diff := cmp.Diff(want, toolOf(t, string(s.Data))); diff != "" {
					t.Errorf("tool of %s (-want +got):\n%s", s.Data, diff)
				}
			}
			for _, row := range v.rows {
				for _, name := range row.names {
					if !seen[name] {
						t.Errorf("%s has no sample", name)
					}
				}
			}
		})
	}
}

type sample struct{ Data, Tool json.RawMessage }

func samples(t *testing.T, vendor string) []sample {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "tools", strings.ReplaceAll(strings.ToLower(vendor), " ", "-")+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []sample
	for dec := json.NewDecoder(f); ; {
		dec.DisallowUnknownFields()
		var s sample
		if err := dec.Decode(&s); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
}

func TestAToolNameMeansTheSameAtEveryVendor(t *testing.T) {
	for _, v := range toolVendors {
		for _, row := range v.rows {
			for _, name := range row.names {
				if got, known := kindOf(name); !known || got != row.kind {
					t.Errorf("%s of %s is %+v elsewhere, not %+v", name, v.vendor, got, row.kind)
				}
				if _, _, isMCP := mcpName(name); isMCP {
					t.Errorf("%s of %s looks like a tool of an MCP server", name, v.vendor)
				}
			}
		}
	}
}

func TestToolOf(t *testing.T) {
	for sentence, c := range map[string]struct {
		data string
		want Tool
	}{
		"a name in any case, with any separator": {
			`{"tool_name":"Run-Shell_COMMAND","tool_input":{"Command":"ls"}}`,
			Tool{Name: "Run-Shell_COMMAND", Class: ClassShell, Known: true, Command: "ls"},
		},
		"a name that is not known, with a command": {
			`{"tool_name":"ssh_exec","tool_input":{"command":"ls","path":"/x"}}`,
			Tool{Name: "ssh_exec", Class: ClassShell, Command: "ls", Paths: []string{"/x"}},
		},
		"a name that is not known, with a command that can't be read": {
			`{"tool_name":"ssh_exec","tool_input":{"cmd":{"line":"ls"}}}`,
			Tool{Name: "ssh_exec", Class: ClassShell, Partial: true},
		},
		"a name that is not known, without a command": {
			`{"tool_name":"calculator","tool_input":{"sum":"1+1"}}`,
			Tool{Name: "calculator", Class: ClassOther},
		},
		"a name that is not known, with a text": {
			`{"tool_name":"calculator","tool_input":"1+1"}`,
			Tool{Name: "calculator", Class: ClassOther, Partial: true},
		},
		"a known tool that is no shell has no command": {
			`{"tool_name":"TodoWrite","tool_input":{"command":"ls"}}`,
			Tool{Name: "TodoWrite", Class: ClassTodo, Known: true},
		},
		"no name": {`{"tool_input":{"a":1}}`, Tool{Class: ClassOther, Partial: true}},
		"a name that is no text": {
			`{"tool_name":7,"tool_input":{"command":"ls"}}`,
			Tool{Class: ClassShell, Partial: true, Command: "ls"},
		},
		"no input": {`{"tool_name":"Bash"}`, Tool{Name: "Bash", Class: ClassShell, Known: true, Partial: true}},
		"a shell without a command": {
			`{"tool_name":"Bash","tool_input":{"restart":true}}`,
			Tool{Name: "Bash", Class: ClassShell, Known: true, Partial: true},
		},
		"an input of null": {`{"tool_name":"LS","tool_input":null}`, Tool{Name: "LS", Class: ClassFile, Known: true, Operation: OperationList}},
		"an input that is a number": {
			`{"tool_name":"LS","tool_input":7}`,
			Tool{Name: "LS", Class: ClassFile, Known: true, Partial: true, Operation: OperationList},
		},
		"a file tool without a path": {
			`{"tool_name":"Write","tool_input":{"where":"/x"}}`,
			Tool{Name: "Write", Class: ClassFile, Known: true, Partial: true, Operation: OperationWrite},
		},
		"arguments as JSON in a string": {
			`{"tool_name":"shell","arguments":"{\"command\":[\"sh\",\"-c\",\"ls | wc\"],\"workdir\":\"/w\"}"}`,
			Tool{Name: "shell", Class: ClassShell, Known: true, Command: "ls | wc", Cwd: "/w"},
		},
		"arguments in a string that is no JSON are the command of a shell": {
			`{"tool_name":"shell","arguments":"{ ls; }"}`,
			Tool{Name: "shell", Class: ClassShell, Known: true, Partial: true, Command: "{ ls; }"},
		},
		"arguments in a string with a name twice": {
			`{"tool_name":"Read","arguments":"{\"path\":\"a\",\"path\":\"b\"}"}`,
			Tool{Name: "Read", Class: ClassFile, Known: true, Partial: true, Operation: OperationRead},
		},
		"a call that is wrapped": {
			`{"tool_call":{"function":{"name":"Bash","arguments":"{\"command\":\"ls\"}"}}}`,
			Tool{Name: "Bash", Class: ClassShell, Known: true, Command: "ls"},
		},
		"a call that is wrapped too deep": {
			`{"tool":{"tool":{"tool":{"tool":{"name":"Bash"}}}}}`, Tool{Class: ClassOther, Partial: true},
		},
		"two members that could be the command": {
			`{"tool_name":"Bash","tool_input":{"command":"ls","cmd":"rm -rf /","script":"ls"}}`,
			Tool{Name: "Bash", Class: ClassShell, Known: true, Command: "ls\nrm -rf /"},
		},
		"arguments beside the command": {
			`{"tool_name":"mcp__host__run","tool_input":{"args":["-rf","/tmp/a b"],"command":"rm"}}`,
			Tool{Name: "mcp__host__run", Class: ClassMCP, Known: true, Server: "host", ServerTool: "run", Command: "rm -rf '/tmp/a b'"},
		},
		"variables beside the command": {
			`{"tool_name":"Bash","tool_input":{"command":"ls","env":{"LD_PRELOAD":"x"}}}`,
			Tool{Name: "Bash", Class: ClassShell, Known: true, Partial: true, Command: "ls"},
		},
		"nothing but the usual shell beside the command": {
			`{"tool_name":"Bash","tool_input":{"command":"ls","env":{},"stdin":"","shell":"/bin/bash"}}`,
			Tool{Name: "Bash", Class: ClassShell, Known: true, Command: "ls"},
		},
		"a shell that reads the command in another way": {
			`{"tool_name":"exec_command","tool_input":{"cmd":"ls","shell":"/usr/bin/fish"}}`,
			Tool{Name: "exec_command", Class: ClassShell, Known: true, Partial: true, Command: "ls"},
		},
		"a script in the arguments of a shell": {
			`{"tool_name":"Bash","tool_input":{"command":"bash","args":["-c","ls | wc"]}}`,
			Tool{Name: "Bash", Class: ClassShell, Known: true, Command: "ls | wc"},
		},
		"arguments behind words, and as a text": {
			`{"tool_name":"Bash","tool_input":{"command":["git","push"],"arguments":"--force"}}`,
			Tool{Name: "Bash", Class: ClassShell, Known: true, Command: "git push --force"},
		},
		"leave to run outside the sandbox": {
			`{"tool_name":"Bash","tool_input":{"command":"ls","dangerouslyDisableSandbox":true}}`,
			Tool{Name: "Bash", Class: ClassShell, Known: true, Partial: true, Command: "ls"},
		},
		"permissions beyond the sandbox": {
			`{"tool_name":"exec_command","tool_input":{"cmd":"ls","sandbox_permissions":"require_escalated"}}`,
			Tool{Name: "exec_command", Class: ClassShell, Known: true, Partial: true, Command: "ls"},
		},
		"a sandbox as it is": {
			`{"tool_name":"Bash","tool_input":{"command":"ls","dangerouslyDisableSandbox":false,"sandbox_permissions":"use_default","required_permissions":[]}}`,
			Tool{Name: "Bash", Class: ClassShell, Known: true, Command: "ls"},
		},
		"several arguments": {
			`{"tool_name":"Bash","tool_input":{"command":"bash","args":["-c","ls"],"argv":["-c","rm x"],"Args":[]}}`,
			Tool{Name: "Bash", Class: ClassShell, Known: true, Command: "ls\nrm x"},
		},
		"arguments that are no words": {
			`{"tool_name":"Bash","tool_input":{"command":"ls","args":{"a":1}}}`,
			Tool{Name: "Bash", Class: ClassShell, Known: true, Partial: true, Command: "ls"},
		},
		"a command in argv alone": {
			`{"tool_name":"mcp__x__exec","tool_input":{"argv":["rm","-rf","a b"]}}`,
			Tool{Name: "mcp__x__exec", Class: ClassMCP, Known: true, Command: "rm -rf 'a b'", Server: "x", ServerTool: "exec"},
		},
		"a script in argv alone": {
			`{"tool_name":"Bash","tool_input":{"argv":["bash","-c","ls | wc"]}}`,
			Tool{Name: "Bash", Class: ClassShell, Known: true, Command: "ls | wc"},
		},
		"a program and its argv": {
			`{"tool_name":"mcp__x__exec","tool_input":{"program":"rm","argv":["-rf","/"]}}`,
			Tool{Name: "mcp__x__exec", Class: ClassMCP, Known: true, Command: "rm -rf /", Server: "x", ServerTool: "exec"},
		},
		"code, and not a line of a shell": {
			`{"tool_name":"exec","tool_input":"ls"}`,
			Tool{Name: "exec", Class: ClassShell, Known: true, Partial: true, Command: "ls"},
		},
		"a text that mentions addresses": {
			`{"tool_name":"mcp__x__add","tool_input":{"body":"See https://a.dev/x ([docs](https://b.dev)),\nor http://[::1]/ now","note":"http://a.dev.\nb.dev/x y"}}`,
			Tool{Name: "mcp__x__add", Class: ClassMCP, Known: true, Server: "x", ServerTool: "add", URLs: []string{"https://a.dev/x", "https://b.dev", "http://[::1]/", "http://a.dev.", "http://a.dev.b.dev/x"}},
		},
		"a login with a blank in an address": {
			`{"tool_name":"mcp__x__get","tool_input":{"note":"http://a b@c.dev/x"}}`,
			Tool{Name: "mcp__x__get", Class: ClassMCP, Known: true, Server: "x", ServerTool: "get", URLs: []string{"http://a b@c.dev/x"}},
		},
		"several commands": {
			`{"tool_name":"Bash","tool_input":{"commands":["ls",["rm","-r","x"],{"cmd":"pwd"}]}}`,
			Tool{Name: "Bash", Class: ClassShell, Known: true, Command: "ls\nrm -r x\npwd"},
		},
		"words as JSON in a text": {
			`{"tool_name":"mcp__x__run","tool_input":{"command":" [\"rm\",\"-rf\",\"/\"]"}}`,
			Tool{Name: "mcp__x__run", Class: ClassMCP, Known: true, Server: "x", ServerTool: "run", Command: ` ["rm","-rf","/"]` + "\nrm -rf /"},
		},
		"arguments as JSON in a text": {
			`{"tool_name":"mcp__x__run","tool_input":{"command":"rm","args":"[\"-rf\",\"/\"]"}}`,
			Tool{Name: "mcp__x__run", Class: ClassMCP, Known: true, Server: "x", ServerTool: "run", Command: `rm ["-rf","/"]` + "\nrm -rf /"},
		},
		"steps as JSON in a text": {
			`{"tool_name":"mcp__x__run","tool_input":{"steps":"[{\"command\":\"ls\",\"path\":\"/y\"}]"}}`,
			Tool{Name: "mcp__x__run", Class: ClassMCP, Known: true, Server: "x", ServerTool: "run", Command: "ls", Paths: []string{"/y"}},
		},
		"paths as JSON in a text": {
			`{"tool_name":"mcp__x__read","tool_input":{"paths":"[\"/a\",\"/b\"]"}}`,
			Tool{Name: "mcp__x__read", Class: ClassMCP, Known: true, Server: "x", ServerTool: "read", Paths: []string{`["/a","/b"]`, "/a", "/b"}},
		},
		"JSON in a text that readers read differently": {
			`{"tool_name":"mcp__x__read","tool_input":{"paths":"[\"/a\",NaN]"}}`,
			Tool{Name: "mcp__x__read", Class: ClassMCP, Known: true, Partial: true, Server: "x", ServerTool: "read", Paths: []string{`["/a",NaN]`}},
		},
		"addresses and a command deep in the input of an MCP tool": {
			`{"tool_name":"mcp__x__get","tool_input":{"pages":["http://a"],"request":{"url":"http://b","q":[{"cmd":"rm","args":["x"]}]},"all":"[\"http://c\"]"}}`,
			Tool{Name: "mcp__x__get", Class: ClassMCP, Known: true, Server: "x", ServerTool: "get", Command: "rm x", URLs: []string{"http://a", "http://b", `["http://c"]`, "http://c"}},
		},
		"relative paths in members that are called like paths, or that look like paths": {
			`{"tool_name":"mcp__x__ocr","tool_input":{"image_path":"a.png","inputFiles":["b"],"src":".env","to":"../c","css":".5 em","title":"e/f","o":{"log_dir":"d"}}}`,
			Tool{Name: "mcp__x__ocr", Class: ClassMCP, Known: true, Server: "x", ServerTool: "ocr", Paths: []string{"a.png", "b", "../c", "d"}},
		},
		"what is written by an MCP tool": {
			`{"tool_name":"mcp__x__write","tool_input":{"path":"a","content":"{\"command\":\"ls\",\"file\":\"/b\"}"}}`,
			Tool{Name: "mcp__x__write", Class: ClassMCP, Known: true, Server: "x", ServerTool: "write", Paths: []string{"a"}},
		},
		"an input deeper than anybody looks": {
			`{"tool_name":"mcp__x__get","tool_input":` + strings.Repeat(`{"a":`, 10) + `{"url":"http://a"}` + strings.Repeat(`}`, 10) + `}`,
			Tool{Name: "mcp__x__get", Class: ClassMCP, Known: true, Partial: true, Server: "x", ServerTool: "get"},
		},
		"a text in brackets": {
			`{"tool_name":"mcp__x__run","tool_input":{"command":"[ -f x ]"}}`,
			Tool{Name: "mcp__x__run", Class: ClassMCP, Known: true, Server: "x", ServerTool: "run", Command: "[ -f x ]"},
		},
		"commands in steps": {
			`{"tool_name":"run_plan","tool_input":{"steps":["look",{"command":"ls"},{"steps":[{"script":"rm x","path":"/y"}]}]}}`,
			Tool{Name: "run_plan", Class: ClassShell, Command: "ls\nrm x", Paths: []string{"/y"}},
		},
		"steps too deep": {
			`{"tool_name":"mcp__x__run","tool_input":{"steps":[{"steps":[{"steps":[{"steps":[{"command":"ls"}]}]}]}]}}`,
			Tool{Name: "mcp__x__run", Class: ClassMCP, Known: true, Partial: true, Server: "x", ServerTool: "run"},
		},
		"a unified diff": {
			`{"tool_name":"apply_patch","tool_input":{"patch":"diff --git a/x/y.go b/x/y.go\n--- a/x/y.go\t2026\n+++ b/x/y.go\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ new.go\n"}}`,
			Tool{Name: "apply_patch", Class: ClassFile, Known: true, Operation: OperationEdit, Paths: []string{"a/x/y.go", "x/y.go", "b/x/y.go", "new.go"}},
		},
		"a diff that renames": {
			`{"tool_name":"apply_patch","tool_input":{"diff":"rename from a.go\nrename to .codex/config.toml"}}`,
			Tool{Name: "apply_patch", Class: ClassFile, Known: true, Operation: OperationMove, Paths: []string{"a.go", ".codex/config.toml", "config.toml"}},
		},
		"arguments without a command": {
			`{"tool_name":"calculator","tool_input":{"args":["1"]}}`, Tool{Name: "calculator", Class: ClassOther},
		},
		"a file that is fetched is read": {
			`{"tool_name":"WebFetch","tool_input":{"url":"file:///home/eve/.ssh/id_rsa","prompt":"x"}}`,
			Tool{Name: "WebFetch", Class: ClassWeb, Known: true, Operation: OperationRead, URLs: []string{"file:///home/eve/.ssh/id_rsa"}, Paths: []string{"/home/eve/.ssh/id_rsa"}},
		},
		"a file in the prompt of a fetch": {
			`{"tool_name":"web_fetch","tool_input":{"prompt":"see file:///x/y, and http://z"}}`,
			Tool{Name: "web_fetch", Class: ClassWeb, Known: true, Operation: OperationRead, URLs: []string{"file:///x/y,", "http://z"}, Paths: []string{"/x/y,"}},
		},
		"a file that a server of MCP is given": {
			`{"tool_name":"mcp__playwright__browser_navigate","tool_input":{"url":"file:///x"}}`,
			Tool{Name: "mcp__playwright__browser_navigate", Class: ClassMCP, Known: true, Server: "playwright", ServerTool: "browser_navigate", URLs: []string{"file:///x"}, Paths: []string{"/x"}},
		},
		"a resource of a server of MCP": {
			`{"tool_name":"ReadMcpResourceTool","tool_input":{"server":"notes","uri":"file:///x"}}`,
			Tool{Name: "ReadMcpResourceTool", Class: ClassMCP, Known: true, Server: "notes", ServerTool: "read_resource", URLs: []string{"file:///x"}, Paths: []string{"/x"}},
		},
		"the resources of all servers of MCP": {
			`{"tool_name":"list_mcp_resources","tool_input":{}}`, Tool{Name: "list_mcp_resources", Class: ClassMCP, Known: true, ServerTool: "list_resources"},
		},
		"a file beside where it is saved": {
			`{"tool_name":"WebFetch","tool_input":{"url":"file:///x","path":"/y"}}`,
			Tool{Name: "WebFetch", Class: ClassWeb, Known: true, Operation: OperationFetch, URLs: []string{"file:///x"}, Paths: []string{"/y", "/x"}},
		},
		"a path that is an address": {
			`{"tool_name":"Read","tool_input":{"path":"FILE://localhost/a%62"}}`,
			Tool{Name: "Read", Class: ClassFile, Known: true, Operation: OperationRead, Paths: []string{"FILE://localhost/a%62", "/ab"}},
		},
		"two places to run at": {
			`{"tool_name":"Bash","tool_input":{"command":"ls","cwd":"/a","workdir":"/b"}}`,
			Tool{Name: "Bash", Class: ClassShell, Known: true, Partial: true, Command: "ls", Cwd: "/a"},
		},
		"paths in objects of a list, and beside it": {
			`{"tool_name":"Edit","tool_input":{"files":["a",{"path":"b","edits":[]}],"edits":[{"file_path":"c"},{"file_path":"a"}]}}`,
			Tool{Name: "Edit", Class: ClassFile, Known: true, Operation: OperationEdit, Paths: []string{"a", "b", "c"}},
		},
		"a path that is no text": {
			`{"tool_name":"Edit","tool_input":{"path":"a","file":7}}`,
			Tool{Name: "Edit", Class: ClassFile, Known: true, Partial: true, Operation: OperationEdit, Paths: []string{"a"}},
		},
		"a path in a list of lists": {
			`{"tool_name":"Edit","tool_input":{"path":"a","files":[["b"]]}}`,
			Tool{Name: "Edit", Class: ClassFile, Known: true, Partial: true, Operation: OperationEdit, Paths: []string{"a"}},
		},
		"an operation of OpenAI's own patch tool": {
			`{"tool_name":"apply_patch","tool_input":{"operation":{"type":"delete_file","path":"x"}}}`,
			Tool{Name: "apply_patch", Class: ClassFile, Known: true, Operation: OperationDelete, Paths: []string{"x"}},
		},
		"a patch with odd lines": {
			`{"tool_name":"apply_patch","tool_input":"*** Begin Patch\r\n  *** update file:  a b.go \r\n@@\r\n+*** Delete File: text\r*** MOVE TO: c"}`,
			Tool{Name: "apply_patch", Class: ClassFile, Known: true, Operation: OperationMove, Paths: []string{"a b.go", " a b.go", "c"}},
		},
		"a patch that names nothing": {
			`{"tool_name":"apply_patch","tool_input":{"patch":"*** Begin Patch\n*** End Patch"}}`,
			Tool{Name: "apply_patch", Class: ClassFile, Known: true, Partial: true, Operation: OperationEdit},
		},
		"a fetch of nothing": {
			`{"tool_name":"web_fetch","tool_input":{"prompt":"İİİİ ://x"}}`,
			Tool{Name: "web_fetch", Class: ClassWeb, Known: true, Partial: true, Operation: OperationFetch},
		},
		"an MCP name without a tool":              {`{"tool_name":"mcp__x"}`, Tool{Name: "mcp__x", Class: ClassMCP, Known: true, Server: "x"}},
		"a name that only begins like one of MCP": {`{"tool_name":"mcp_x"}`, Tool{Name: "mcp_x", Class: ClassOther}},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(c.want, toolOf(t, c.data)); diff != "" {
				t.Errorf("ToolOf(%s) (-want +got):\n%s", c.data, diff)
			}
		})
	}
}

func TestCommandOfWords(t *testing.T) {
	for words, want := range map[string]string{
		`["bash","-lc","ls | wc -l"]`:                   `ls | wc -l`,
		`["/usr/bin/zsh","-c","ls"]`:                    `ls`,
		`["pwsh","-Command","echo \"a\\\"; ri x #\""]`:  `pwsh -Command 'echo "a\"; ri x #"'`,
		`["fish","-c","(rm x)"]`:                        `fish -c '(rm x)'`,
		`["cmd.exe","/c","dir"]`:                        `cmd.exe /c dir`,
		`["bash","-C","ls"]`:                            `bash -C ls`,
		`["rm","-rf","/tmp/a b","it's",""]`:             `rm -rf '/tmp/a b' 'it'\''s' ''`,
		`["bash","-c","$0 $1 /","rm","-rf"]`:            `bash -c '$0 $1 /' rm -rf`,
		`["bash","--rcfile=/tmp/evil","-c","ls"]`:       `bash --rcfile=/tmp/evil -c ls`,
		`["/tmp/evil/bash","-c","ls"]`:                  `/tmp/evil/bash -c ls`,
		`["./bash","-c","ls"]`:                          `./bash -c ls`,
		`["python3","-c","import os"]`:                  `python3 -c 'import os'`,
		`["bash","-x","ls"]`:                            `bash -x ls`,
		`["ls",7]`:                                      `ls 7`,
		`[]`:                                            ``,
		`"ls"`:                                          `ls`,
		`["sh","-c","printf '\u0041' > /etc/passwd"]`:   `printf 'A' > /etc/passwd`,
		`["echo","$HOME","*","a;b","~","#x","!y","\n"]`: "echo '$HOME' '*' 'a;b' '~' '#x' '!y' '\n'",
	} {
		if got := toolOf(t, `{"tool_name":"shell","tool_input":{"command":`+words+`}}`).Command; got != want {
			t.Errorf("command %s: %q; want %q", words, got, want)
		}
	}
}

func TestPathsOfFileURLs(t *testing.T) {
	for url, want := range map[string]string{
		`file:///home/eve/x`:        "/home/eve/x",
		`FILE:///x`:                 "/x",
		`file:/x`:                   "/x",
		`file://localhost/x`:        "/x",
		`file://127.0.0.1/x`:        "/x",
		`file:////x`:                "/x",
		`file:\\\\\\x\\y`:           "/x/y",
		`file:///%2Essh/%69d%zz%4`:  "/.ssh/id%zz%4",
		`file:///x?y#z`:             "/x",
		`file:///x%3Fy`:             "/x?y",
		`file:///C:/x`:              "C:/x",
		`file://~/x`:                "~/x",
		`file:///x%ff`:              "/x\ufffd",
		`view-source:file:///x`:     "/x",
		`\u0020fi\tle:///x\n`:       "/x",
		`file:x`:                    "/x",
		`https://x/file:///y`:       "",
		`https://x:80/?u=file:///y`: "",
		`//file:///x`:               "",
		`a:b:c:d:file:///x`:         "",
		`profile:///x`:              "",
		`:file:///x`:                "",
	} {
		got := toolOf(t, `{"tool_name":"mcp__x__open","tool_input":{"url":"`+url+`"}}`).Path()
		if got != want {
			t.Errorf("path of %s: %q; want %q", url, got, want)
		}
	}
}

func TestWhichEventsAreAboutATool(t *testing.T) {
	for event, c := range map[string]struct {
		data string
		want ToolClass
	}{
		"tool:pre":          {`{"tool_name":"Bash"}`, ClassShell},
		"tool:post":         {`{"tool_name":"Bash"}`, ClassShell},
		"error:tool":        {`{"tool_name":"Bash"}`, ClassShell},
		"tool:of:my:own":    {`{"tool_name":"Bash"}`, ClassShell},
		"approval:denied":   {`{"tool_name":"Bash"}`, ClassShell},
		"approval:required": {`{"id":"a1","hook":"guard"}`, ""},
		"session:start":     {`{"tool_name":"Bash"}`, ""},
		"tools:pre":         {`{"tool_name":"Bash"}`, ""},
	} {
		tool, ok := ToolOf(event, []byte(c.data))
		if tool.Class != c.want || ok != (c.want != "") {
			t.Errorf("ToolOf(%s, %s) = %+v, %v; want class %q", event, c.data, tool, ok, c.want)
		}
	}
}

func TestDataThatIsNoObjectIsPartial(t *testing.T) {
	for _, data := range []string{``, `[`, `[]`, `{"tool_name":"Bash","tool_name":"Read"}`, nested(65)} {
		if diff := cmp.Diff(Tool{Class: ClassOther, Partial: true}, toolOf(t, data)); diff != "" {
			t.Errorf("ToolOf(%s) (-want +got):\n%s", clip(data), diff)
		}
	}
}

func TestAnEventThatIsNoToolEventCostsNothing(t *testing.T) {
	data := []byte(strings.Repeat("garbage", 1000))
	if n := testing.AllocsPerRun(100, func() { ToolOf(SessionStart, data) }); n != 0 {
		t.Errorf("%v allocations; want none", n)
	}
}

// TestHostileInputIsBounded has inputs as large as the router lets in. The bound on
// time is generous: what it is about takes much longer.
func TestHostileInputIsBounded(t *testing.T) {
	const size = 512 << 10
	fill := func(f string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, f, i)
		}
		return b.String()
	}
	spelled := func() string {
		var b strings.Builder
		for i := 1; b.Len() < size; i++ {
			fmt.Fprintf(&b, `,"%scommand%s":"%d"`, strings.Repeat("_", i%900), strings.Repeat("-", i/900), i)
		}
		return b.String()
	}
	both := func() string {
		var b strings.Builder
		for i := 1; b.Len() < size; i++ {
			spelled := strings.Repeat("_", i%900) + strings.Repeat("-", i/900)
			fmt.Fprintf(&b, `,"command%s":"%d","args%s":"%d"`, spelled, i, spelled, i)
		}
		return b.String()
	}
	for sentence, data := range map[string]string{
		"many arguments":         `{"tool_name":"Bash","tool_input":{"command":"ls"` + both() + `}}`,
		"a patch of many files":  `{"tool_name":"apply_patch","tool_input":{"patch":"` + fill(`*** Add File: %d\n`) + `"}}`,
		"many lists in lists":    `{"tool_name":"mcp__x__y","tool_input":{"a":` + strings.Repeat("[", 60) + fill(`{"url":"%d"},`) + `{}` + strings.Repeat("]", 60) + `}}`,
		"many objects":           `{"tool_name":"mcp__x__y","tool_input":{"a":[` + fill(`{"url":"%d"},`) + `{}]}}`,
		"many texts with lists":  `{"tool_name":"mcp__x__y","tool_input":{"a":0` + fill(`,"%d":"[{\"url\":\"%[1]d\"}]"`) + `}}`,
		"many paths":             `{"tool_name":"Edit","tool_input":{"files":[` + fill(`"%d",`) + `"x"]}}`,
		"many edits":             `{"tool_name":"Edit","tool_input":{"edits":[` + fill(`{"path":"%d"},`) + `{}]}}`,
		"many addresses":         `{"tool_name":"web_fetch","tool_input":{"prompt":"` + fill(`http://%d `) + `"}}`,
		"many spellings":         `{"tool_name":"Bash","tool_input":{"command":"ls"` + spelled() + `}}`,
		"a name of half a mega":  `{"tool_name":"` + strings.Repeat("a", size) + `","tool_input":[]}`,
		"a string in a string …": `{"tool_name":"Read","tool_input":"` + strings.Repeat(`\\\"`, size/5) + `"}`,
	} {
		t.Run(sentence, func(t *testing.T) {
			start := time.Now()
			tool := toolOf(t, data)
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
			if len(tool.Paths) > MaxToolPaths || len(tool.URLs) > MaxToolPaths || !tool.Partial {
				t.Errorf("%d paths, %d URLs, partial %v; want at most %d, and that it is said", len(tool.Paths), len(tool.URLs), tool.Partial, MaxToolPaths)
			}
		})
	}
}
