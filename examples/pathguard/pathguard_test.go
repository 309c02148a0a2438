package pathguard

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func toolPre(data string) events.Event {
	return events.Event{Name: events.ToolPre, Data: json.RawMessage(data)}
}

func write(path string) events.Event {
	input, err := json.Marshal(map[string]string{"file_path": path})
	if err != nil {
		panic(err) // strings
	}
	return toolPre(fmt.Sprintf(`{"tool_name":"Write","tool_input":%s}`, input))
}

func TestHook(t *testing.T) {
	for sentence, c := range map[string]struct{ path, denied string }{
		"an ordinary file":                    {"/home/me/main.go", ""},
		"a relative file":                     {"pkg/main.go", ""},
		"the system's passwords":              {"/etc/passwd", "protected directory"},
		"the directory itself":                {"/etc", "protected directory"},
		"a way around through another place":  {"/tmp/../etc/passwd", "protected directory"},
		"a way around with two slashes":       {"//etc//./passwd", "protected directory"},
		"climbing out of an unknown place":    {"../../../etc/passwd", "protected directory"},
		"climbing out of one's home":          {"~/../../etc/passwd", "protected directory"},
		"through the entries of a process":    {"/proc/self/root/etc/passwd", "protected directory"},
		"in another case":                     {"/ETC/Passwd", "protected directory"},
		"where macOS has it":                  {"/private/etc/hosts", "protected directory"},
		"root's home":                         {"/root/.bashrc", "protected directory"},
		"root's home by its short name":       {"~root/.bashrc", "protected directory"},
		"one's keys by the short name":        {"~/.ssh/id_ed25519", "protected directory"},
		"one's keys in full":                  {"/home/me/.ssh/authorized_keys", "protected directory"},
		"keys on Windows":                     {`C:\Users\me\.ssh\id_rsa`, "protected directory"},
		"keys in the working directory":       {".ssh/config", "protected directory"},
		"cloud credentials":                   {"/home/me/.aws/credentials", "protected directory"},
		"a directory whose name only begins":  {"/etcetera/x", ""},
		"a directory of that name elsewhere":  {"/srv/app/etc/x.conf", ""},
		"a name that only ends like .ssh":     {"/home/me/my.ssh/x", ""},
		"an environment file":                 {"/srv/app/.env", "sensitive data"},
		"an environment file of production":   {"/srv/app/.env.production", "sensitive data"},
		"a template of an environment file":   {"/srv/app/.env.example", ""},
		"a certificate's key":                 {"/srv/tls/server.KEY", "sensitive data"},
		"a PEM file behind a dot":             {"/srv/tls/./server.pem", "sensitive data"},
		"a file that is about keys, no key":   {"/srv/keys.go", ""},
		"leaving a protected directory again": {"/etc/../home/me/x", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := Hook(Options{})(t.Context(), write(c.path))
			if err != nil {
				t.Fatal(err)
			}
			if got.Denied() != (c.denied != "") || !strings.Contains(got.Reason, c.denied) {
				t.Errorf("%s: %q %q", c.path, got.Action, got.Reason)
			}
		})
	}
}

func TestHookJudgesEveryPathOfACall(t *testing.T) {
	for _, data := range []string{
		`{"tool_input":{"file_path":"/tmp/x","path":"/etc"}}`,
		`{"tool_input":{"notebook_path":"/root/x.ipynb"}}`,
		`{"cwd":"/root","tool_input":{"file_path":"notes.txt"}}`,
		`{"tool_input":{"file_path":"/etc/passwd","File_Path":"/tmp/x"}}`,
	} {
		got, err := Hook(Options{})(t.Context(), toolPre(data))
		if err != nil || !got.Denied() {
			t.Errorf("%s: %+v, %v", data, got, err)
		}
	}
}

func TestHookFailsOnWhatItCannotRead(t *testing.T) {
	if got, err := Hook(Options{})(t.Context(), toolPre(`{"tool_input":{"file_path":["/etc/passwd"]}}`)); err == nil {
		t.Errorf("decided %+v: an error makes the router deny", got)
	}
	if r := Registration(); r.OnFailure != chain.FailClosed {
		t.Errorf("on_failure is %q", r.OnFailure)
	}
}

func TestOptionsReplaceTheDefaults(t *testing.T) {
	hook := Hook(Options{Dirs: []string{"/srv/secret/", "vault"}, Secrets: []string{}})
	for path, denied := range map[string]bool{
		"/srv/secret/x": true, "/a/Vault/x": true, "/etc/passwd": false, "/srv/app/.env": false, "/srv/secrets": false,
	} {
		got, err := hook(t.Context(), write(path))
		if err != nil || got.Denied() != denied {
			t.Errorf("%s: %+v, %v", path, got, err)
		}
	}
}

func ExampleHook() {
	guard := Hook(Options{})
	result, err := guard(context.Background(), write("/tmp/../etc/passwd"))
	fmt.Println(result.Action, "-", result.Reason, err)
	// Output: deny - Access denied: /etc/passwd is in a protected directory <nil>
}
