package verifierkeys_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	signednote "golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/internal/cli/verifierkeys"
)

// pair creates a key and returns its private and its verifier half.
func pair(t *testing.T, name string) (private, public string) {
	t.Helper()
	private, public, err := signednote.GenerateKey(nil, name)
	if err != nil {
		t.Fatal(err)
	}
	return private, public
}

func file(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys.pub")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestKeysAreReadFromTextsAndFiles(t *testing.T) {
	_, a := pair(t, "log-a")
	_, b := pair(t, "log-b")
	for sentence, c := range map[string]struct{ given, want []string }{
		"a key on the command line":        {[]string{a}, []string{a}},
		"a file of several, with comments": {[]string{file(t, "# keys of the log", "", " "+a+" ", b, "")}, []string{a, b}},
		"each key once":                    {[]string{a, file(t, b, a), b}, []string{a, b}},
		"nothing given":                    {nil, []string{}},
	} {
		t.Run(sentence, func(t *testing.T) {
			list, err := verifierkeys.Read("--key", c.given)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, verifierkeys.Texts(list)); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
			for i, v := range verifierkeys.Verifiers(list) {
				if v.Name() != list[i].Name() || v.KeyHash() != list[i].KeyHash() {
					t.Errorf("verifier %d is not that of %s", i, list[i])
				}
			}
		})
	}
}

func TestWhatIsNoVerifierKeyIsRejected(t *testing.T) {
	private, public := pair(t, "log-a")
	empty := file(t, "# nothing")
	for sentence, c := range map[string]struct{ given, want string }{
		"the private key":             {private, "that is the private key"},
		"a file with the private key": {file(t, private), "that is the private key"},
		"a malformed key is no path":  {public[:len(public)-3], "as a key it is malformed"},
		"a file that is not there":    {filepath.Join(t.TempDir(), "none"), "none: `hookctl audit key new` makes a key"},
		"a file without a key":        {empty, "there is no key in it"},
		"a file with something else":  {file(t, public, "hello"), "no verifier key"},
	} {
		t.Run(sentence, func(t *testing.T) {
			list, err := verifierkeys.Read("--key", []string{c.given})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "--key") {
				t.Fatalf("keys %v, error %v; want %q", verifierkeys.Texts(list), err, c.want)
			}
			if strings.Contains(err.Error(), private[len(private)-20:]) {
				t.Errorf("the error shows the private key: %v", err)
			}
		})
	}
}

func TestNamesAreFitForATerminal(t *testing.T) {
	_, a := pair(t, "log-a")
	_, b := pair(t, "log\u202eb")
	list, err := verifierkeys.Read("--key", []string{a, b})
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Split(verifierkeys.Names(list), ", ")
	if len(names) != 2 || !strings.HasPrefix(a, names[0]+"+") || !strings.HasPrefix(names[1], "log⟨U+202E⟩b+") {
		t.Errorf("names %q", names)
	}
}
